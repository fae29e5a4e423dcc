//! A mail about one notification, or about several that had to wait. Names and texts in it are hostile: the only header that has them is the subject, as
//! one encoded line.

use super::{prose, subject::Subject};
use crate::{notification::Notification, notification::prose::summary, text};
use lettre::{
    Message,
    error::Error,
    message::{
        Mailbox, MessageBuilder,
        header::{ContentType, Header, HeaderName, HeaderValue},
    },
};
use oasis_alarms::AlarmKey;
use uuid::Uuid;

/// Longest subject, in bytes.
const LONGEST_SUBJECT: usize = 160;
/// The namespace of conversations (RFC 9562, version 5).
const NAMESPACE: Uuid = Uuid::from_u128(0x3b9e_6f0d_9a41_4c52_8f6e_d4b1_7a90_22c5);

/// Makes the mail.
pub fn letter(
    (from, to): (&Mailbox, &[Mailbox]),
    notifications: &[Notification],
    page: &str,
) -> Result<Message, Error> {
    let mut builder = Message::builder().from(from.clone()).date_now();
    for receiver in to {
        builder = builder.to(receiver.clone());
    }
    let domain = from.email.domain();
    builder = match notifications {
        [one] => of_one(builder, one, domain),
        several => of_several(builder, several, domain),
    };
    let paragraphs: Vec<_> = notifications.iter().map(|one| prose::paragraph(one, page)).collect();
    let is_many = notifications.len() > 1;
    let begin = if is_many { prose::list(notifications) + "\n" } else { String::new() };
    builder.header(AutoSubmitted).header(ContentType::TEXT_PLAIN).body(begin + &paragraphs.join("\n"))
}

fn of_one(builder: MessageBuilder, one: &Notification, domain: &str) -> MessageBuilder {
    // All mails about one raise of an alarm answer the same one, which was never sent: mail programs show them together.
    let conversation = format!("<{}@{domain}>", conversation(&one.alarm.key, one.alarm.raised));
    builder
        .message_id(Some(format!("<{}@{domain}>", one.key)))
        .in_reply_to(conversation.clone())
        .references(conversation)
        .header(Subject(text::line(&summary(one), LONGEST_SUBJECT)))
}

fn of_several(builder: MessageBuilder, several: &[Notification], domain: &str) -> MessageBuilder {
    let keys: Vec<_> = several.iter().map(|one| one.key.as_str()).collect();
    let key = Uuid::new_v5(&NAMESPACE, keys.join(" ").as_bytes());
    builder.message_id(Some(format!("<{key}@{domain}>"))).header(Subject(prose::count(several)))
}

/// The same for all notifications about one raise of an alarm.
fn conversation(key: &AlarmKey, raised: Option<u64>) -> Uuid {
    let AlarmKey { rule, node, instance } = key;
    let raised = raised.unwrap_or_default();
    Uuid::new_v5(&NAMESPACE, format!("{rule:?} {node:?} {instance:?} {raised}").as_bytes())
}

/// RFC 3834 5: nothing answers such a mail by itself.
#[derive(Debug, Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notification::samples::{cleared, hostile, hot, with_text};

    fn of(notifications: &[Notification]) -> String {
        let from: Mailbox = "Plant 3 <plant-3@example.org>".parse().unwrap();
        let to = ["ada@example.org".parse().unwrap(), "bob@example.org".parse().unwrap()];
        let letter = letter((&from, &to), notifications, "https://dac.example.org").unwrap();
        String::from_utf8(letter.formatted()).unwrap()
    }

    fn header<'a>(mail: &'a str, name: &str) -> Vec<&'a str> {
        let (head, _) = mail.split_once("\r\n\r\n").unwrap();
        let lines = head.split("\r\n").filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }

    #[test]
    fn a_clear_stands_below_its_raise() {
        let (raised, cleared) = (of(&[hot()]), of(&[cleared()]));
        assert_eq!(header(&raised, "message-id"), ["<6f0c3a1e-52d8-4b6f-9e0b-7d2fa8c194e3@example.org>"]);
        assert_ne!(header(&raised, "message-id"), header(&cleared, "message-id"));
        assert_eq!(header(&raised, "in-reply-to").len(), 1);
        assert_eq!(header(&raised, "in-reply-to"), header(&cleared, "in-reply-to"));
        assert_eq!(header(&raised, "subject"), ["[HIGH] Hot at plant/pump: Pump is hot: 91.5 Cel"]);
        assert_eq!(header(&raised, "to"), ["ada@example.org, bob@example.org"]);
        assert_eq!(header(&raised, "auto-submitted"), ["auto-generated"]);
        assert!(raised.contains("Value       91.5 =C2=B0C (limit 80 =C2=B0C)\r\n"), "{raised}");
    }

    #[test]
    fn several_that_waited_are_one_mail() {
        let mail = of(&[hot(), cleared(), hot()]);
        assert_eq!(header(&mail, "subject"), ["2 alarms raised, 1 cleared"]);
        assert!(mail.contains("- [CLEARED] Hot at plant/pump"), "{mail}");
    }

    #[test]
    fn hostile_text_adds_no_header_and_ends_no_mail() {
        let names =
            ["Auto-Submitted", "Content-Transfer-Encoding", "Content-Type", "Date", "From", "In-Reply-To"];
        let names: Vec<_> =
            names.into_iter().chain(["Message-ID", "MIME-Version", "References", "Subject", "To"]).collect();
        for text in hostile() {
            for mail in [of(&[with_text(&text)]), of(&[with_text(&text), hot()])] {
                let (head, body) = mail.split_once("\r\n\r\n").unwrap();
                for line in head.split("\r\n").filter(|line| !line.starts_with(' ')) {
                    let name = line.split(':').next().unwrap();
                    assert!(names.contains(&name), "{name} in {head}");
                }
                let subject = header(&mail, "subject")[0];
                assert!(subject.len() < 1_000);
                let is_raw = text.starts_with("=?") && subject.contains(&text);
                assert!(!is_raw, "readers would decode it: {subject}");
                assert!(body.len() < 100_000 && !body.contains("\n.\r\n"), "{}", body.len());
            }
        }
    }
}
