//! Frames with a process that reads them as extensions do.

use std::time::Duration;

use a2c_process::{Frame, FrameWriteError, Launch, LineReader, NoSecrets, Processes, ReadLine, Spawned};

/// A line that begins with `+` has a payload. The process tells the line, and the length and the sum of the payload.
const READER: &str = r#"
import struct, sys
for line in iter(sys.stdin.buffer.readline, b""):
    payload = b""
    if line.startswith(b"+"):
        length, = struct.unpack("<q", sys.stdin.buffer.read(8))
        payload = sys.stdin.buffer.read(length)
    print(line.decode().rstrip("\n"), len(payload), sum(payload), flush=True)
"#;

const LIMIT: Duration = Duration::from_secs(60);

async fn reader(script: &str) -> Spawned {
    let python = a2c_testbed::python();
    Processes::unguarded().spawn(&Launch::new(python).args(["-c", script]), &NoSecrets).await.unwrap()
}

#[tokio::test]
async fn a_process_reads_lines_and_payloads() {
    let Spawned { process, stdin, stdout, .. } = reader(READER).await;
    let writer = stdin.into_frames();
    let mut lines = LineReader::new(stdout, 100);
    let mut check = async |frame: Frame, expected: &str| {
        writer.clone().write(frame, LIMIT).await.unwrap();
        match lines.next().await.unwrap() {
            Some(ReadLine::Whole(line)) => assert_eq!(String::from_utf8_lossy(&line), expected),
            other => panic!("{other:?}"),
        }
    };
    check(Frame::line("first").unwrap(), "first 0 0").await;
    check(Frame::with_payload("+empty", "").unwrap(), "+empty 0 0").await;
    // More than a pipe holds, and full of what ends a line.
    check(Frame::with_payload("+large", vec![b'\n'; 300_000]).unwrap(), "+large 300000 3000000").await;
    check(Frame::line("last").unwrap(), "last 0 0").await;
    assert!(process.end().await.is_some_and(|status| status.success()));
    assert!(matches!(writer.write(Frame::line("late").unwrap(), LIMIT).await, Err(FrameWriteError::Closed)));
}

#[tokio::test]
async fn a_process_that_stops_reading_in_the_middle_ruins_its_stream() {
    let Spawned { process, stdin, .. } =
        reader("import sys, time; sys.stdin.buffer.read(100_000); time.sleep(1000)").await;
    let writer = stdin.into_frames();
    let frame = Frame::with_payload("+large", vec![b'x'; 1 << 20]).unwrap();
    let cut = writer.clone().write(frame, Duration::from_secs(2)).await;
    assert!(matches!(cut, Err(FrameWriteError::Cut { .. })), "{cut:?}");
    let later = writer.write(Frame::line("later").unwrap(), LIMIT).await;
    assert!(matches!(later, Err(FrameWriteError::Broken)), "{later:?}");
    process.end().await;
}
