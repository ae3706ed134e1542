// Package lowlevel seals and opens the segments of a FLOE message in any order,
// also by many goroutines at once. It is for those who build storage of their
// own: all others are better served by package floe.
//
// What package floe makes impossible is up to the caller here:
//
//   - Seal each position once. Two different segments at one position are both
//     genuine, and a reader cannot tell which was meant.
//   - Seal exactly one final segment, after the last of the others, and leave
//     no gap: segments come from one [floe.Layout], and all of them.
//   - Open a segment only at the position and with the finality that its place
//     in the message gives it, and take neither from someone not trusted: the
//     message is not bound to one key any more then.
//   - Open the final segment, at the end of all there is, before you believe
//     that the message is complete.
//
// A [SharedSealer] or [SharedOpener] is a message; its forks do the work, one
// for each goroutine. Segment keys are derived once for all forks; nonces are
// drawn by each fork for itself.
//
// Spec sections 4, 6 and 8.5.
package lowlevel
