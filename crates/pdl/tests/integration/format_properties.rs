//! With any gaps between the words of a valid file, the formatter keeps the words, and formatting again changes nothing.

use crate::words::words;
use oasis_pdl::format;
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};

type Words = Vec<String>;

/// Gaps between words, mostly short.
const GAPS: [&str; 20] = [
    "",
    "",
    "",
    "",
    "",
    " ",
    " ",
    " ",
    "\n",
    "\n\n\n",
    "\t",
    "\r\n \u{c}",
    "// line\n",
    "\n\n  // line  \r\n\n",
    "/* block */",
    " /**/\n",
    "/* two\n     lines  \n*/",
    "\n\t/* three\n\t * lines\n\n\t */ /* more */ ",
    "\n// one\n// two\n",
    "/* long enough that what stands after it is moved to the next line, whatever stands there */",
];

fn said(text: &str) -> Words {
    words(text)
}

fn name() -> impl Strategy<Value = String> {
    "N[a-z0-9_]{0,12}|N[a-z0-9_]{30}"
}

fn joined(parts: Vec<Words>, separator: &str) -> Words {
    let mut all = Words::new();
    for part in parts {
        if !all.is_empty() {
            all.extend(said(separator));
        }
        all.extend(part);
    }
    all
}

/// Documentation, seldom.
fn doc() -> impl Strategy<Value = Words> {
    let line = select(&["///", "/// What it is.", "///Said  without a blank. "][..]).prop_map(String::from);
    prop_oneof![3 => Just(Words::new()), 1 => vec(line, 1..3)]
}

fn attributes() -> impl Strategy<Value = Words> {
    const ALL: [&str; 7] = [
        "unit(\"By\")",
        "kind(gauge)",
        "label(\"A text // with /* signs */ ; in { it\")",
        "min(-40)",
        "max(1.5e3)",
        "warn(< 5, > 80)",
        "alarm(> 95)",
    ];
    (Just(ALL.to_vec()).prop_shuffle(), 0..8_usize, 0..8_usize, any::<bool>()).prop_map(
        |(all, count, split, ends)| {
            let chosen: Vec<Words> = all.into_iter().take(count).map(said).collect();
            let (first, second) = chosen.split_at(split.min(count));
            let end = said(if ends { ";" } else { "" });
            let bracket = |inside: &[Words]| {
                if inside.is_empty() {
                    return Words::new();
                }
                [said("["), joined(inside.to_vec(), ";"), end.clone(), said("]")].concat()
            };
            [bracket(first), bracket(second)].concat()
        },
    )
}

fn kind() -> impl Strategy<Value = Words> {
    let simple = select(&["uint8", "real64", "string", "boolean"][..]).prop_map(said);
    let path = (any::<bool>(), vec(name(), 1..3)).prop_map(|(rooted, names)| {
        let names = joined(names.into_iter().map(|name| vec![name]).collect(), "::");
        [said(if rooted { "::" } else { "" }), names].concat()
    });
    prop_oneof![simple, path].prop_recursive(3, 4, 1, |inner| {
        inner.prop_map(|inner| [said("vector <"), inner, said(">")].concat())
    })
}

fn metric() -> impl Strategy<Value = Words> {
    let more = vec((proptest::option::of(kind()), name()), 0..4);
    (doc(), attributes(), kind(), name(), more).prop_map(|(doc, attributes, kind, name, more)| {
        let more = more
            .into_iter()
            .flat_map(|(kind, name)| [said(","), kind.unwrap_or_default(), vec![name]].concat());
        [doc, attributes, kind, vec![name], more.collect(), said(";")].concat()
    })
}

fn body() -> impl Strategy<Value = Words> {
    (vec(metric(), 0..4), doc())
        .prop_map(|(metrics, doc)| [said("{"), metrics.concat(), doc, said("} ;")].concat())
}

fn enumeration() -> impl Strategy<Value = Words> {
    let number = select(&["", "= 5", "= -7"][..]).prop_map(said);
    let enumerator =
        (doc(), name(), number).prop_map(|(doc, name, number)| [doc, vec![name], number].concat());
    let base = select(&["", ": int16"][..]).prop_map(said);
    (name(), base, vec(enumerator, 1..6), any::<bool>(), doc()).prop_map(
        |(name, base, enumerators, comma, doc)| {
            let comma = said(if comma { "," } else { "" });
            [said("enum"), vec![name], base, said("{"), joined(enumerators, ","), comma, doc, said("} ;")]
                .concat()
        },
    )
}

fn probe() -> impl Strategy<Value = Words> {
    let head = select(
        &[
            "abstract probe",
            "[version(1.2);] abstract probe",
            "[uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa)] [version(1.2)] probe",
            "[] [uuid(0F3C7D52-9c7e-4a57-8a9f-62c1f1b8c7aa); version(1.2)] probe",
        ][..],
    );
    let base = select(&["", ": Base", ": ::Plant::Base"][..]).prop_map(said);
    (head.prop_map(said), name(), base, body())
        .prop_map(|(head, name, base, body)| [head, vec![name], base, body].concat())
}

fn declaration() -> impl Strategy<Value = Words> {
    let structure = (name(), body()).prop_map(|(name, body)| [said("struct"), vec![name], body].concat());
    let leaf =
        (doc(), prop_oneof![structure, enumeration(), probe()]).prop_map(|(doc, leaf)| [doc, leaf].concat());
    leaf.prop_recursive(3, 12, 3, |inner| {
        (name(), vec(inner, 0..3), doc(), select(&["}", "} ;"][..])).prop_map(|(name, inside, doc, close)| {
            [said("module"), vec![name], said("{"), inside.concat(), doc, said(close)].concat()
        })
    })
}

fn file() -> impl Strategy<Value = Words> {
    let directive = select(&["# pragma version ( 1.1 )", "# include \"other.pdl\""][..]).prop_map(said);
    (vec(directive, 0..3), vec(declaration(), 1..3), doc()).prop_map(|(directives, declarations, doc)| {
        [directives.concat(), declarations.concat(), doc].concat()
    })
}

/// The words with gaps between them; words that would run together get a blank.
fn spread(words: &[String], gaps: &[Index]) -> String {
    let mut text = String::new();
    let mut gaps = gaps.iter().cycle().map(|gap| *gap.get(&GAPS));
    for word in words {
        let gap = gaps.next().unwrap_or_default();
        let joins = |character: char| character.is_alphanumeric() || "_.:-".contains(character);
        if gap.is_empty() && text.ends_with(joins) && word.starts_with(joins) {
            text.push(' ');
        }
        text.push_str(gap);
        text.push_str(word);
        // Tokens after documentation on its line would belong to it.
        if word.starts_with("///") {
            text.push('\n');
        }
    }
    text.push_str(gaps.next().unwrap_or_default());
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_right_file_keeps_its_words_and_is_laid_out_once(words in file(), gaps in vec(any::<Index>(), 1..200)) {
        let text = spread(&words, &gaps);
        let once = format("example.pdl".as_ref(), &text).map_err(|report| report.render(false));
        let once = once.unwrap_or_else(|reported| panic!("{text}\n{reported}"));
        prop_assert_eq!(said(&once), said(&text), "{}", once);
        let twice = format("example.pdl".as_ref(), &once).map_err(|report| report.render(false));
        prop_assert_eq!(twice.as_deref(), Ok(once.as_str()));
        prop_assert!(once.lines().all(|line| line.trim_end() == line), "{:?}", once);
        prop_assert!(once.ends_with('\n') && !once.contains("\n\n\n"), "{:?}", once);
    }
}
