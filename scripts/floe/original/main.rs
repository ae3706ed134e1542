// Prints how long the calls of fast-floe take, for scripts/floe: a line for each
// call and length of segments, with the nanoseconds of one call. Bytes and key
// are those of bench/floe.

use std::hint::black_box;
use std::io::{self, Cursor, Read, Write};
use std::time::{Duration, Instant};

use fast_floe::io::{DecryptReader, EncryptReader, EncryptWriter};
use fast_floe::random_access::Reader;
use fast_floe::{decrypt, encrypt, low_level, Header, Key, Parameters};

const AAD: &[u8] = b"aad";
const PAYLOAD: usize = 16;
const WHOLE: usize = 64 << 20; // bytes in a message, header and all

// The median of three batches of 20 ms or more, as in scripts/internal/stopwatch.
fn per_call(mut call: impl FnMut()) -> f64 {
    let at_least = Duration::from_millis(20);
    let mut batch = |n: u32| {
        let start = Instant::now();
        for _ in 0..n {
            call();
        }
        start.elapsed()
    };
    let mut n = 1;
    while batch(n) < at_least {
        n *= 2;
    }
    loop {
        let mut times = [batch(n), batch(n), batch(n)];
        times.sort();
        if times[1] >= at_least {
            return times[1].as_nanos() as f64 / n as f64;
        }
        n *= 2;
    }
}

fn report(name: &str, segment: usize, call: impl FnMut()) {
    println!("{name} {segment} {:.1}", per_call(call));
}

fn main() {
    let key = Key::from_bytes([0x42; 32]);
    for params in [Parameters::SEGMENT_4_KIB, Parameters::SEGMENT_1_MIB] {
        let full = params.ciphertext_segment_length();
        let part = params.plaintext_segment_length();
        let count = WHOLE / full;
        let plain = vec![0x5a; count * part];
        let msg = encrypt(&key, AAD, params, &plain).unwrap();
        assert_eq!(decrypt(&key, AAD, &msg).unwrap(), plain);

        let layout = params.plaintext_layout(2 * part as u64).unwrap();
        let first = layout.segment_for_position(0).unwrap();
        let (mut sealer, _) = low_level::start_encryption(&key, AAD, params).unwrap();
        let mut out = vec![0; full];
        report("SealSegment", full, || {
            black_box(sealer.encrypt_segment_into(&plain[..part], first, &mut out).unwrap());
        });
        report("SealInPlace", full, || {
            black_box(sealer.encrypt_segment_in_place_raw(&mut out, first).unwrap());
        });
        let header = Header::try_from(&msg[..74]).unwrap();
        let mut opener = low_level::start_decryption_inferred(&key, AAD, &header).unwrap();
        let segment = msg[74..74 + full].to_vec();
        report("OpenSegment", full, || {
            black_box(opener.decrypt_segment_into(&segment, first, &mut out).unwrap());
        });
        let mut buf = segment.clone();
        report("OpenInPlace", full, || {
            buf[PAYLOAD..].copy_from_slice(&segment[PAYLOAD..]);
            black_box(opener.decrypt_segment_in_place_raw(&mut buf, first).unwrap());
        });

        report("SealNewBuffer", full, || {
            black_box(encrypt(&key, AAD, params, &plain).unwrap());
        });
        report("OpenNewBuffer", full, || {
            black_box(decrypt(&key, AAD, &msg).unwrap());
        });

        let mut writer = EncryptWriter::new(io::sink(), &key, AAD, params).unwrap();
        report("EncryptWriter", full, || writer.write_all(&plain[..part]).unwrap());
        let mut reader = EncryptReader::new(io::repeat(0x5a), &key, AAD, params).unwrap();
        reader.read_exact(&mut [0; 74]).unwrap();
        report("EncryptReader", full, || reader.read_exact(&mut out).unwrap());

        let open = || DecryptReader::new(Cursor::new(&msg[..]), &key, AAD).unwrap();
        let mut reader = open();
        let mut n = 0;
        report("DecryptReader", full, || {
            if n == count {
                reader = open();
                n = 0;
            }
            reader.read_exact(&mut out[..part]).unwrap();
            n += 1;
        });

        let mut reader = Reader::new(Cursor::new(&msg[..]), &key, AAD).unwrap();
        let mut i = 0;
        report("ReadSegments", full, || {
            black_box(reader.read_segment_into(i, &mut out).unwrap());
            i = (i + 1) % count as u64;
        });
        let mut all = vec![0; plain.len()];
        report("ReadRange", full, || {
            black_box(reader.read_range_into(0..plain.len() as u64, &mut all).unwrap());
        });
    }
    let params = Parameters::SEGMENT_4_KIB;
    let msg = encrypt(&key, AAD, params, &[0x5a; 64]).unwrap();
    report("Seal64", 4096, || {
        black_box(encrypt(&key, AAD, params, &[0x5a; 64]).unwrap());
    });
    report("Open64", 4096, || {
        black_box(decrypt(&key, AAD, &msg).unwrap());
    });
}
