//! Which files a scenario reads: those of its folder, and what the caller names.

use std::fs;
use std::path::{Path, PathBuf};

use elephan_scenario::{Allowed, Gate, Purpose, Source, read};

const NETWORK: &str = r#"duration = "1 s"
[template]
kind = "dumbbell"
rate = "10 Mbps"
delay = "5 ms"
"#;
const TRACE: &str = "start_ms,size_bytes\n0,4242\n";
const SIZES: &str = "size_bytes,cdf\n1000,0.5\n4242,1\n";
const TIMES: &str = "time_ms,cdf\n250,0.5\n1000,1\n";
const PROFILE: &str = include_str!("disk/good.toml");

/// Every key that names a file: what the file says, and a scenario around the name.
fn keys() -> [(&'static str, String); 4] {
    let traffic = |words: &str| format!("{NETWORK}[[traffic]]\nfrom = \"sender\"\nto = \"receiver\"\n{words}\n");
    [
        (TRACE, traffic("kind = \"replay\"\nfile = \"NAME\"")),
        (SIZES, traffic("kind = \"transfers\"\nload = \"2 Mbps\"\nsize = { cdf = \"NAME\" }")),
        (TIMES, traffic("kind = \"users\"\nusers = 3\nsize = \"1 KB\"\nthink = { cdf = \"NAME\" }")),
        (PROFILE, traffic("kind = \"bulk\"") + "[hosts.sender]\ndisk = { profile = \"NAME\" }\n"),
    ]
}

/// A folder of this test alone, with `lab/` for the scenario and files outside.
struct Place(PathBuf);

impl Place {
    fn new(name: &str, content: &str) -> Place {
        let root = std::env::temp_dir().join(format!("elephan-gate-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("lab/data")).unwrap();
        fs::create_dir_all(root.join("lab2")).unwrap();
        for file in ["outside.csv", "lab/in.csv", "lab/data/deep.csv", "lab2/near.csv"] {
            fs::write(root.join(file), content).unwrap();
        }
        Place(root)
    }

    fn answer(&self, scenario: &str, name: &str, allowed: Allowed) -> Result<String, String> {
        let file = self.0.join("lab/scenario.toml");
        let source = Source::toml(file.display().to_string(), scenario.replace("NAME", name)).with_files(allowed);
        read(&source, &[], None).map(|resolved| resolved.toml()).map_err(|errors| errors.to_string())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refused(answer: Result<String, String>, name: &str) {
    let line = answer.expect_err(name);
    assert!(line.contains("is not in the folder of the scenario; it is read only where the caller names it"), "{line}");
    assert!(line.contains("--files-from ") && !line.contains('\n'), "{line}");
}

#[test]
fn every_key_reads_the_folder_and_below_and_nothing_else() {
    for (i, (content, scenario)) in keys().iter().enumerate() {
        let place = Place::new(&format!("keys{i}"), content);
        let root = place.0.display().to_string();
        let inside = format!("{root}/lab/in.csv");
        for name in ["./in.csv", "data/deep.csv", "data/../in.csv", "../lab/in.csv", inside.as_str()] {
            let toml = place.answer(scenario, name, Allowed::default()).expect(name);
            assert!(!toml.contains("NAME") && !toml.contains(".csv"), "{toml}");
        }
        let outside = format!("{root}/outside.csv");
        for name in ["../outside.csv", "data/../../outside.csv", "../lab2/near.csv", outside.as_str()] {
            refused(place.answer(scenario, name, Allowed::default()), name);
        }
    }
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere_else() {
    use std::os::unix::fs::symlink;
    for (i, (content, scenario)) in keys().iter().enumerate() {
        let place = Place::new(&format!("links{i}"), content);
        let lab = place.0.join("lab");
        symlink("../outside.csv", lab.join("link.csv")).unwrap();
        symlink(lab.join("link.csv"), lab.join("again.csv")).unwrap();
        symlink("..", lab.join("up")).unwrap();
        symlink("data/deep.csv", lab.join("fine.csv")).unwrap();
        place.answer(scenario, "./fine.csv", Allowed::default()).unwrap();
        for name in ["./link.csv", "./again.csv", "up/outside.csv", "up/lab2/near.csv"] {
            refused(place.answer(scenario, name, Allowed::default()), name);
        }
        if Path::new("/proc/self/root").exists() {
            let name = format!("/proc/self/root{}/outside.csv", place.0.display());
            refused(place.answer(scenario, &name, Allowed::default()), &name);
            refused(place.answer(scenario, "/proc/self/cwd/Cargo.toml", Allowed::default()), "/proc/self/cwd");
        }
        // The scenario's own folder may be reached over a link.
        symlink("lab", place.0.join("other")).unwrap();
        let file = place.0.join("other/scenario.toml").display().to_string();
        read(&Source::toml(file, scenario.replace("NAME", "./in.csv")), &[], None).unwrap();
    }
}

#[test]
fn what_the_caller_names_is_read() {
    let (content, scenario) = &keys()[0];
    let place = Place::new("named", content);
    let outside = place.0.join("outside.csv").canonicalize().unwrap();
    let places = |path: &Path| Allowed { places: vec![path.to_path_buf()], ..Allowed::default() };
    let words = |name: &str| Allowed { words: [name.to_owned()].into(), ..Allowed::default() };
    for allowed in [places(&outside), places(outside.parent().unwrap()), words("../outside.csv")] {
        assert!(place.answer(scenario, "../outside.csv", allowed).unwrap().contains("4242"));
    }
    refused(place.answer(scenario, "../outside.csv", places(&place.0.join("lab2"))), "another folder");
    refused(place.answer(scenario, "../outside.csv", words("outside.csv")), "another name");
    let none = Allowed { beside: false, ..Allowed::default() };
    let line = place.answer(scenario, "in.csv", none).unwrap_err();
    assert!(line.contains("in.csv: no file beside the scenario is read here; it is read only where"), "{line}");
}

#[test]
fn a_text_has_no_folder() {
    let (_, scenario) = &keys()[0];
    let source = |name: &str| Source::toml("<toml text>", scenario.replace("NAME", name));
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/replay/flows.csv");
    for name in [here, "Cargo.toml", "src/lib.rs"] {
        let line = read(&source(name), &[], None).unwrap_err().to_string();
        assert!(line.contains(&format!("{name}: is not beside the scenario; it is read only where")), "{line}");
    }
    let words = Allowed { words: [here.to_owned()].into(), ..Allowed::default() };
    // Its pairs are not those of this network: it has been read.
    let line = read(&source(here).with_files(words), &[], None).unwrap_err().to_string();
    assert!(line.contains("pair: 1 is not one of the 1 pairs"), "{line}");
}

#[test]
fn code_goes_through_the_same_gate() {
    let place = Place::new("code", "");
    let gate = |allowed| Gate::new(Some(place.0.join("lab")), allowed, Purpose::Run);
    let found = gate(Allowed::default()).find("in.csv").unwrap();
    assert!(!found.by_caller && found.real == place.0.canonicalize().unwrap().join("lab/in.csv"), "{found:?}");
    let line = gate(Allowed::default()).find("../outside.csv").unwrap_err();
    assert!(line.contains("lab/../outside.csv: is not in the folder of the scenario; its code runs only"), "{line}");
    let places = vec![place.0.canonicalize().unwrap()];
    assert!(gate(Allowed { places, ..Allowed::default() }).find("../outside.csv").unwrap().by_caller);
}
