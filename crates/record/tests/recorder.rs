//! The recorder from outside: what is written is what was pushed, always in the same bytes, or an error says why not.

use std::fs;
use std::path::{Path, PathBuf};

use elephan_record::{
    EventRow, FlowRow, Kind, MessageRow, ROW_GROUP_ROWS, RecordBatch, Recorder, SwitchSampleRow, TableData,
    data_dictionary, specs,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

/// A new empty folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("elephan-record-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn fill(recorder: &mut Recorder, events: usize) {
    let (drop, pause) = (recorder.intern("drop"), recorder.intern("pause"));
    let (client, switch) = (recorder.intern("client[2]"), recorder.intern("sw"));
    for i in 0..events {
        let time_ns = 1_000 * i as i64;
        let row = EventRow { time_ns, kind: drop, node: switch, ..EventRow::default() };
        recorder.events.push(match i % 3 {
            0 => row,
            1 => EventRow { kind: pause, peer: Some(client), port: Some(7), value: Some(65535.0), ..row },
            _ => EventRow { flow: Some(i as i64), packet_bytes: Some(1538), reason: client, ..row },
        });
    }
    recorder.switch_samples.push(SwitchSampleRow { time_ns: 5, switch, memory_bytes: 49_152, pausing: true });
    recorder.flows.push(FlowRow { flow: 0, goodput_bps: 9.49e9, completed: false, ..FlowRow::default() });
}

fn read(path: &Path) -> (usize, Vec<RecordBatch>) {
    let file = fs::File::open(path).expect("a written table");
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
    let groups = builder.metadata().num_row_groups();
    let reader = builder.with_batch_size(ROW_GROUP_ROWS).build().expect("a reader");
    (groups, reader.map(|batch| batch.expect("a batch")).collect())
}

fn rows(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

#[test]
fn a_folder_holds_what_memory_holds() {
    let folder = Folder::new("round");
    let events = 2 * ROW_GROUP_ROWS + 100;
    let mut memory = Recorder::memory();
    fill(&mut memory, events);
    let mut disk = Recorder::to_folder(&folder.0).expect("a recorder");
    fill(&mut disk, events);
    assert_eq!(disk.events.len(), events as u64);
    assert_eq!(disk.check(), Ok(()));
    let (memory, disk) = (memory.finish().expect("tables"), disk.finish().expect("tables"));
    for (kept, written) in memory.iter().zip(&disk) {
        let (groups, batches) = read(&folder.0.join(format!("{}.parquet", kept.name)));
        assert_eq!(kept.batches, batches, "{}", kept.name);
        assert_eq!(groups, kept.batches.len());
        assert_eq!((written.name, written.rows, written.batches.len()), (kept.name, kept.rows, 0));
        assert_eq!(kept.rows, rows(&batches) as u64);
    }
    let sizes: Vec<usize> = table(&memory, "events").batches.iter().map(RecordBatch::num_rows).collect();
    assert_eq!(sizes, [ROW_GROUP_ROWS, ROW_GROUP_ROWS, 100]);
}

fn table<'a>(tables: &'a [TableData], name: &str) -> &'a TableData {
    tables.iter().find(|table| table.name == name).expect("a table of that name")
}

#[test]
fn values_words_and_gaps_arrive_in_their_columns() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use arrow_array::{Array, BooleanArray};

    let mut recorder = Recorder::memory();
    fill(&mut recorder, 3);
    let tables = recorder.finish().expect("tables");
    let events = &table(&tables, "events").batches[0];
    let kind = events["kind"].as_string::<i32>();
    assert_eq!(kind.iter().collect::<Vec<_>>(), [Some("drop"), Some("pause"), Some("drop")]);
    assert_eq!(events["peer"].as_string::<i32>().iter().collect::<Vec<_>>(), [None, Some("client[2]"), None]);
    assert_eq!(events["reason"].as_string::<i32>().iter().collect::<Vec<_>>(), [Some(""), Some(""), Some("client[2]")]);
    assert_eq!(events["flow"].as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), [None, None, Some(2)]);
    assert_eq!(events["value"].as_primitive::<Float64Type>().iter().collect::<Vec<_>>(), [None, Some(65535.0), None]);
    assert_eq!(events["time_ns"].as_primitive::<Int64Type>().values(), &[0, 1_000, 2_000]);
    let samples = &table(&tables, "switch_samples").batches[0];
    assert_eq!(samples["pausing"].as_boolean(), &BooleanArray::from(vec![true]));
    assert_eq!(table(&tables, "flows").batches[0]["end_ns"].null_count(), 1);
}

#[test]
fn every_table_is_there_even_when_empty() {
    let folder = Folder::new("empty");
    let names = [
        "flows",
        "messages",
        "datagrams",
        "flow_samples",
        "statistics",
        "info",
        "ports",
        "port_samples",
        "switch_samples",
        "queue_delays",
        "pauses",
        "holds",
        "limiter_samples",
        "copies",
        "copy_samples",
        "iterations",
        "ranks",
        "operations",
        "hosts",
        "host_samples",
        "logger_gaps",
        "transmit_samples",
        "events",
    ];
    let tables = Recorder::to_folder(&folder.0).expect("a recorder").finish().expect("tables");
    assert_eq!(tables.iter().map(|table| table.name).collect::<Vec<_>>(), names);
    for (table, spec) in tables.iter().zip(specs()) {
        let path = folder.0.join(format!("{}.parquet", table.name));
        let builder = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(path).expect("a file")).expect("Parquet");
        assert_eq!(builder.schema(), &spec.schema());
        assert_eq!(table.rows, 0);
    }
}

#[test]
fn same_rows_same_bytes() {
    let folders = [Folder::new("bytes-a"), Folder::new("bytes-b")];
    for folder in &folders {
        let mut recorder = Recorder::to_folder(&folder.0).expect("a recorder");
        fill(&mut recorder, ROW_GROUP_ROWS + 5_000);
        recorder.finish().expect("tables");
    }
    for spec in specs() {
        let file = format!("{}.parquet", spec.name);
        let [a, b] = [0, 1].map(|i: usize| fs::read(folders[i].0.join(&file)).expect("a table"));
        assert!(a == b, "{file} differs");
        let text = String::from_utf8_lossy(&a);
        assert!(text.contains("elephan") && !text.contains("parquet-rs"), "the author is fixed");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_names_the_file_and_stops_nothing_else() {
    let folder = Folder::new("full");
    let path = folder.0.join("events.parquet");
    std::os::unix::fs::symlink("/dev/full", &path).expect("a link");
    let mut recorder = Recorder::to_folder(&folder.0).expect("the header is still in the buffer");
    fill(&mut recorder, 40 * ROW_GROUP_ROWS);
    let error = recorder.check().expect_err("the disk is full");
    assert_eq!(error.to_string(), format!("cannot write {}: No space left on device (os error 28)", path.display()));
    assert_eq!(recorder.finish().map(|_| ()), Err(error));
}

#[test]
fn a_missing_folder_is_one_clear_line() {
    let error = Recorder::to_folder(Path::new("/nowhere/at/all")).map(|_| ()).expect_err("no such folder");
    assert_eq!(error.path, "/nowhere/at/all/flows.parquet");
    assert!(error.to_string().starts_with("cannot write /nowhere/at/all/flows.parquet: No such file or directory"));
}

#[test]
fn the_unit_is_the_last_word_of_a_name() {
    for spec in specs() {
        assert!(!spec.description.contains('\n') && !spec.description.is_empty());
        for column in spec.columns {
            let name = format!("{}.{}", spec.name, column.name);
            assert_eq!(column.name.ends_with("_ns"), column.unit == "ns", "{name}");
            assert_eq!(column.name.ends_with("_bps"), column.unit == "bit/s", "{name}");
            assert!(!column.name.ends_with("_bytes") || column.unit == "B", "{name}");
            assert!(column.unit != "ns" || column.kind == Kind::Int, "{name}: times are whole nanoseconds");
            assert!(!column.description.is_empty() && !column.description.contains(['\n', '|']), "{name}");
        }
    }
}

#[test]
fn the_committed_dictionary_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data-dictionary.md");
    let committed = fs::read_to_string(path).expect("docs/data-dictionary.md");
    assert!(committed == data_dictionary(), "docs/data-dictionary.md is out of date: run `make generate`");
}

fn message() -> impl Strategy<Value = MessageRow> {
    let exit = proptest::option::of(any::<i64>());
    (any::<i64>(), any::<i64>(), exit.clone(), any::<i64>(), exit).prop_map(
        |(flow, enter_ns, exit_ns, size_bytes, latency_ns)| MessageRow {
            flow,
            enter_ns,
            exit_ns,
            size_bytes,
            latency_ns,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Differences between extreme integers must not overflow in the file.
    #[test]
    fn any_rows_round_trip(rows in proptest::collection::vec(message(), 0..300)) {
        let folder = Folder::new("any");
        let (mut memory, mut disk) = (Recorder::memory(), Recorder::to_folder(&folder.0).expect("a recorder"));
        for row in &rows {
            memory.messages.push(*row);
            disk.messages.push(*row);
        }
        let kept = memory.finish().expect("tables");
        disk.finish().expect("tables");
        prop_assert_eq!(&table(&kept, "messages").batches, &read(&folder.0.join("messages.parquet")).1);
    }
}
