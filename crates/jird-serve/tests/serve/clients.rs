//! Real clients, from Python's package index, and curl.

use crate::common::Service;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a program of Python with the server's address and a token, if it has the packages.
fn python(service: &Service, packages: &str, program: &str) -> Option<Output> {
    let python = std::env::var("JIRD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has = Command::new(&python).args(["-c", &format!("import {packages}")]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        println!("skipped: {packages} of Python, which send events");
        return None;
    }
    let address = format!("http://{}", service.address);
    let output = Command::new(&python).args(["-W", "ignore", "-c", program, &address, "s3cret"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output)
}

fn service() -> Service {
    Service::of_store(|settings| settings.tokens = vec!["s3cret".into()])
}

#[test]
fn seqlog_sends_events_in_both_forms() {
    for clef in ["False", "True"] {
        let service = service();
        let program = format!(
            "
import logging, sys, seqlog, seqlog.feature_flags as flags
flags.configure_feature(flags.FeatureFlag.USE_CLEF, {clef})
flags.configure_feature(flags.FeatureFlag.IGNORE_SEQ_SUBMISSION_ERRORS, False)
handler = seqlog.log_to_seq(server_url=sys.argv[1], api_key=sys.argv[2], level=logging.INFO, batch_size=2,
    override_root_logger=True)
for number in range(6):
    logging.info('Hello, {{name}} {{number}}!', name='Ann', number=number)
handler.consumer.stop()
handler.consumer.consumer_thread.join()
handler.close()
"
        );
        if python(&service, "seqlog", &program).is_none() {
            return;
        }
        let events = service.events();
        assert_eq!(events.len(), 6, "{events:?}");
        for (number, event) in events.iter().enumerate() {
            let event: jird::Json = jird::from_slice(event.as_bytes()).unwrap();
            assert_eq!(event["@mt"], jird::json!("Hello, {name} {number}!"), "{event}");
            assert_eq!((&event["name"], &event["number"]), (&jird::json!("Ann"), &jird::json!(number)), "{event}");
        }
    }
}

#[test]
fn the_bulk_helper_of_elasticsearch_sends_documents() {
    let service = service();
    let program = "
import sys
from elasticsearch import Elasticsearch, helpers
for auth in [{'api_key': sys.argv[2]}, {'basic_auth': ('jird', sys.argv[2])}, {'api_key': ('id', sys.argv[2])}]:
    client = Elasticsearch(sys.argv[1], **auth)
    assert client.ping() and client.info()['tagline']
    documents = [{'_index': 'log', '@t': '2024-03-05T07:00:00Z', 'n': n} for n in range(1200)]
    assert helpers.bulk(client, documents) == (1200, [])
    count, errors = helpers.bulk(client, [
        {'_op_type': 'create', '_index': 'log', '_id': 1, 'n': 1},
        {'_op_type': 'delete', '_index': 'log', '_id': 1},
        {'_op_type': 'update', '_index': 'log', '_id': 1, 'doc': {'n': 2}},
    ], raise_on_error=False)
    assert count == 1 and [list(e)[0] for e in errors] == ['delete', 'update'], errors
from elasticsearch import AuthenticationException
try:
    helpers.bulk(Elasticsearch(sys.argv[1], api_key='wrong'), [{'_index': 'log'}])
    sys.exit('not refused')
except AuthenticationException:
    pass
";
    if python(&service, "elasticsearch", program).is_some() {
        assert_eq!(service.events().len(), 3 * 1201);
    }
}

#[test]
fn opentelemetrys_exporter_sends_logs() {
    let service = service();
    let program = "
import logging, sys
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
for compression in [Compression.NoCompression, Compression.Gzip, Compression.Deflate]:
    provider = LoggerProvider(resource=Resource.create({'service.name': 'shop'}))
    exporter = OTLPLogExporter(endpoint=sys.argv[1] + '/v1/logs', headers={'Authorization': 'Bearer ' + sys.argv[2]},
        compression=compression)
    provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    logger = logging.getLogger(compression.name)
    logger.addHandler(LoggingHandler(logger_provider=provider))
    for number in range(30):
        logger.warning('Hello, %s', number, extra={'number': number, 'list': ['a', 1.5, None]})
    provider.shutdown()
";
    let packages = "opentelemetry.exporter.otlp.proto.http._log_exporter";
    if python(&service, packages, program).is_none() {
        return;
    }
    let events = service.events();
    assert_eq!(events.len(), 90, "{events:?}");
    let event: jird::Json = jird::from_slice(events[1].as_bytes()).unwrap();
    assert_eq!((&event["@l"], &event["@m"]), (&jird::json!("WARN"), &jird::json!("Hello, 1")), "{event}");
    assert_eq!(event["attributes"]["number"], jird::json!(1), "{event}");
    assert_eq!(event["resource"]["service.name"], jird::json!("shop"), "{event}");
}

#[test]
fn opentelemetrys_exporters_send_logs_and_spans_by_grpc() {
    let service = service();
    let program = "
import logging, sys, grpc
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
resource = Resource.create({'service.name': 'shop'})
for compression in [grpc.Compression.NoCompression, grpc.Compression.Gzip, grpc.Compression.Deflate]:
    options = {'endpoint': sys.argv[1], 'insecure': True, 'headers': (('authorization', 'Bearer ' + sys.argv[2]),),
        'compression': compression}
    logs, spans = LoggerProvider(resource=resource), TracerProvider(resource=resource)
    logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(**options)))
    spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(**options)))
    logger = logging.getLogger(compression.name)
    logger.addHandler(LoggingHandler(logger_provider=logs))
    for number in range(30):
        logger.warning('Hello, %s', number, extra={'number': number})
        with spans.get_tracer('test').start_as_current_span('GET /', attributes={'number': number}):
            pass
    logs.shutdown()
    spans.shutdown()
";
    if python(&service, "opentelemetry.exporter.otlp.proto.grpc._log_exporter", program).is_none() {
        return;
    }
    let events: Vec<jird::Json> =
        service.events().iter().map(|event| jird::from_slice(event.as_bytes()).unwrap()).collect();
    let (spans, logs): (Vec<_>, Vec<_>) = events.iter().partition(|event| event["@m"] == jird::json!("GET /"));
    assert_eq!((logs.len(), spans.len()), (90, 90), "{events:?}");
    assert_eq!((&logs[1]["@l"], &logs[1]["@m"]), (&jird::json!("WARN"), &jird::json!("Hello, 1")));
    assert_eq!(spans[1]["attributes"]["number"], jird::json!(1), "{:?}", spans[1]);
    assert_eq!(spans[1]["resource"]["service.name"], jird::json!("shop"), "{:?}", spans[1]);
}

#[test]
fn curl_sends_a_file() {
    let service = service();
    let events = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/events.ndjson");
    let run = Command::new("curl")
        .args(["-sS", "--fail", "-H", "Content-Type: application/x-ndjson", "-H", "Authorization: Bearer s3cret"])
        .arg("--data-binary")
        .arg(format!("@{}", events.display()))
        .arg(format!("http://{}/ingest", service.address))
        .output();
    let Ok(output) = run else {
        println!("skipped: curl, which sends a file");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = std::fs::read_to_string(events).unwrap().lines().count();
    assert_eq!(service.events().len(), lines);
}
