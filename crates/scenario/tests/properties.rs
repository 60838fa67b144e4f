//! Whatever is written: no panic, every error on one line, and what resolves resolves again to the same plan.

use elephan_scenario::{AxisArgument, Override, Plan, Source, read, sweep};
use proptest::prelude::*;

const GOOD: [&str; 6] = [
    include_str!("good/changes.toml"),
    include_str!("good/pause.toml"),
    include_str!("good/mixed.toml"),
    include_str!("good/w1.toml"),
    include_str!("good/w3.toml"),
    include_str!("good/w4.toml"),
];

fn shown(plan: &Plan) -> String {
    let options: Vec<_> = plan.options.iter().map(|o| o.to_overrides()).collect();
    let mut rest = plan.clone();
    rest.options.clear();
    format!("{options:?}\n{rest:?}")
}

/// Reads; errors must be one line each, a result must survive being written and read.
fn judge(source: &Source, overrides: &[Override]) -> Result<(), TestCaseError> {
    match read(source, overrides, None) {
        Err(errors) => {
            prop_assert!(!errors.0.is_empty());
            for error in &errors.0 {
                let line = error.to_string();
                prop_assert!(!line.contains(['\n', '\r']) && line.len() > 5, "{line:?}");
            }
        }
        Ok(first) => {
            let second = read(&Source::toml("again", first.toml()), &[], None);
            let second = second.map_err(|e| TestCaseError::fail(format!("{e}\n{}", first.toml())))?;
            prop_assert_eq!(shown(&first.plan), shown(&second.plan));
            prop_assert_eq!(first.toml(), second.toml());
        }
    }
    Ok(())
}

/// Words of the language, for texts that get further than noise.
fn word() -> impl Strategy<Value = String> {
    let words = [
        "kind",
        "rate",
        "\"10 Gbps\"",
        "\"5 ms\"",
        "{",
        "}",
        "[",
        "]",
        "=",
        ",",
        "[[links]]",
        "[hosts.a]",
        "count",
        "3",
        "\"pause\"",
        "-1",
        "0",
        "nan",
        "inf",
        "1e400",
        "\n",
        "between",
        "\"client\"",
        "[[traffic]]",
        "template",
        "\"\"",
        "\"é\\n\"",
        "true",
        "'x'",
        "[sweep]",
        "[[change]]",
        "at",
        "set",
        "queue",
        "limit",
        "\"1 bdp\"",
        "99999999999999999999",
        "\"client[0-9]\"",
    ];
    (0..words.len()).prop_map(move |i| words[i].to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn noise(text in ".{0,200}", json in any::<bool>()) {
        judge(&if json { Source::json("x", text) } else { Source::toml("x", text) }, &[])?;
    }

    #[test]
    fn words(words in prop::collection::vec(word(), 0..30)) {
        judge(&Source::toml("x", words.join(" ")), &[])?;
    }

    /// A good scenario with a piece replaced by a word, a character or nothing.
    #[test]
    fn a_good_text_gone_bad(which in 0..GOOD.len(), at in 0.0..1.0f64, length in 0usize..12, put in word(), nothing in any::<bool>()) {
        let mut text = GOOD[which].to_owned();
        let place = |x: usize, text: &str| (x..text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len());
        let start = place((at * text.len() as f64) as usize, &text);
        let end = place(start + length, &text);
        text.replace_range(start..end, if nothing { "" } else { &put });
        // Nothing larger than a test can bear.
        prop_assume!(!text.contains("count = 9") && !text.contains("pairs = 9"));
        judge(&Source::toml("x", text), &[])?;
    }

    #[test]
    fn any_override(key in "(hosts|links|traffic|switches|template|record|tcp)?[.a-z\\[\\]0-9\"]{0,20}", value in ".{0,12}") {
        if let Ok(one) = Override::parse(&format!("{key}={value}")) {
            judge(&Source::toml("x", GOOD[0]), &[one])?;
        }
        let _ = AxisArgument::parse(&format!("{key}={value}"));
    }

    /// Every leaf of a good scenario replaced by some value.
    #[test]
    fn any_value_anywhere(which in 0..GOOD.len(), leaf in 0.0..1.0f64, value in word()) {
        let good = read(&Source::toml("x", GOOD[which]), &[], None).unwrap();
        let origins = good.provenance();
        let keys: Vec<&String> = origins.keys().collect();
        let key = keys[(leaf * keys.len() as f64) as usize];
        if let Ok(one) = Override::parse(&format!("{key}={value}")) {
            judge(&Source::toml("x", good.toml()), &[one])?;
        }
    }

    /// Dumbbells of any size, and their figures.
    #[test]
    fn dumbbells(pairs in 1u32..20, rate in 1u64..1000, delay_us in 0u64..100_000, access_us in 1u64..1000, connections in 1u32..4) {
        let text = format!(
            "duration = \"1 s\"\n[template]\nkind = \"dumbbell\"\npairs = {pairs}\nrate = \"{rate} Mbps\"\n\
             delay = \"{delay_us} us\"\naccess_delay = \"{access_us} us\"\n[[traffic]]\nfrom = \"sender\"\n\
             to = \"receiver\"\nkind = \"bulk\"\nconnections = {connections}\n"
        );
        let source = Source::toml("x", text);
        judge(&source, &[])?;
        let plan = read(&source, &[], None).unwrap().plan;
        prop_assert_eq!(plan.traffic[0].flows.len() as u32, pairs * connections);
        let middle = plan.links.iter().find(|l| l.name == "left->right").unwrap();
        let rtt_us = 2 * (delay_us + 2 * access_us);
        prop_assert_eq!(middle.bdp_bytes, rate * rtt_us / 8);
        for (i, link) in plan.links.iter().enumerate() {
            let back = &plan.links[link.reverse as usize];
            prop_assert_eq!((back.reverse as usize, back.from, back.to), (i, link.to, link.from));
        }
        let sweep = sweep(&source, &[AxisArgument::parse("template.pairs=1,2,3").unwrap()], Some(2), None).unwrap();
        prop_assert_eq!(sweep.runs().count(), 6);
    }
}
