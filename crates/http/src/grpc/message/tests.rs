use super::*;
use axum::body::to_bytes;
use futures_util::stream;
use std::io;

/// Whole messages are shorter.
const MAX_TEST_BYTES: usize = 1024;

fn body(parts: impl IntoIterator<Item = Bytes, IntoIter: Send + 'static>) -> Body {
    Body::from_stream(stream::iter(parts.into_iter().map(Ok::<_, io::Error>)))
}

/// Reads the only message of a body that comes in these parts.
async fn read(
    parts: impl IntoIterator<Item = Bytes, IntoIter: Send + 'static>,
) -> Result<(bool, Bytes), CallError> {
    let (prefix, content, fault) = read_message(body(parts)).await?;
    match to_bytes(content, MAX_TEST_BYTES).await {
        Ok(content) => {
            assert_eq!((content.len() as u32, fault.get()), (prefix.length, None));
            Ok((prefix.is_compressed, content))
        }
        Err(_) => Err(fault.get().unwrap()),
    }
}

/// Ways to split bytes into three parts, which may be empty; the second one has at most seven bytes.
fn splits(bytes: &Bytes) -> impl Iterator<Item = [Bytes; 3]> {
    let ends = (0..=bytes.len())
        .flat_map(|first| (first..=bytes.len().min(first + 7)).map(move |second| (first, second)));
    ends.map(|(first, second)| [bytes.slice(..first), bytes.slice(first..second), bytes.slice(second..)])
}

#[tokio::test]
async fn a_message_is_the_same_however_its_bytes_are_split() {
    for content in [&b""[..], b"x", b"four", b"content of a message"] {
        let whole = encode(content);
        for parts in splits(&whole) {
            let shown = format!("{parts:?}");
            assert_eq!(read(parts).await, Ok((false, content.to_vec().into())), "{shown}");
        }
        let single = (0..whole.len()).map(move |at| whole.slice(at..=at)).collect::<Vec<_>>();
        assert_eq!(read(single).await, Ok((false, content.to_vec().into())));
    }
}

#[tokio::test]
async fn a_call_without_its_whole_message_is_refused_wherever_it_ends() {
    let whole = encode(b"content");
    for length in 0..whole.len() {
        let expected = match length.checked_sub(PREFIX_BYTES) {
            None => CallError::NoMessage,
            Some(read) => CallError::Truncated(7 - read),
        };
        for parts in splits(&whole.slice(..length)) {
            assert_eq!(read(parts).await, Err(expected.clone()), "{length}");
        }
    }
}

#[tokio::test]
async fn bytes_after_a_message_are_refused() {
    for content in [&b""[..], b"content"] {
        for rest in [&b"x"[..], &encode(content)] {
            let both = Bytes::from([&encode(content), rest].concat());
            for parts in splits(&both) {
                assert_eq!(read(parts).await, Err(CallError::SeveralMessages));
            }
        }
    }
}

#[tokio::test]
async fn a_flag_is_zero_or_one() {
    let with = |flag: u8| read([Bytes::from(vec![flag, 0, 0, 0, 1]), Bytes::from_static(b"x")]);
    assert_eq!(with(1).await, Ok((true, Bytes::from_static(b"x"))));
    for flag in 2..=u8::MAX {
        assert_eq!(with(flag).await, Err(CallError::Flag(flag)));
    }
}

#[tokio::test]
async fn a_body_that_fails_is_interrupted_and_an_enormous_length_takes_no_memory() {
    let failing = |parts: Vec<Bytes>| {
        let end = stream::iter([Err(io::Error::from(io::ErrorKind::ConnectionReset))]);
        Body::from_stream(futures_util::StreamExt::chain(stream::iter(parts.into_iter().map(Ok)), end))
    };
    let nothing = read_message(failing(Vec::new())).await.map(|(prefix, ..)| prefix);
    assert_eq!(nothing, Err(CallError::Interrupted));
    let enormous = Bytes::from_static(&[0, 0xff, 0xff, 0xff, 0xff, 1]);
    let (prefix, content, fault) = read_message(failing(vec![enormous])).await.unwrap();
    assert_eq!(prefix.length, u32::MAX);
    assert!(to_bytes(content, MAX_TEST_BYTES).await.is_err());
    assert_eq!(fault.get(), Some(CallError::Interrupted));
}
