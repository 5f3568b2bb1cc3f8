//! Starts `cat`, sends it a line, reads the line back, and ends it with everything it may have started.

use a2c_process::{Launch, LineReader, NoSecrets, Processes, ReadLine, Spawned, StderrTail};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let processes = Processes::unguarded();
    let Spawned { process, stdin, stdout, stderr } = processes.spawn(&Launch::new("cat"), &NoSecrets).await?;
    let mut stderr = StderrTail::new(stderr, NoSecrets, ());
    let writer = stdin.into_lines();
    let mut lines = LineReader::new(stdout, 1024);
    writer.clone().write(b"hello\n".to_vec()).await?;
    match lines.next().await? {
        Some(ReadLine::Whole(line)) => assert_eq!(&line[..], b"hello"),
        other => return Err(format!("no line: {other:?}; it wrote: {}", stderr.last_lines(5).await).into()),
    }
    let status = process.end().await;
    assert!(status.is_some_and(|status| status.success()), "cat ends when its standard input is closed");
    Ok(())
}
