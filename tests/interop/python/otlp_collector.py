"""A collector for traces: decodes OTLP/HTTP JSON with the official messages and prints each request as a line of JSON.

Its arguments are the answers to give, one per request, the last one for all that follow: a status, or `partial:N`
for a success that rejects N spans, or `hang` for none at all.
"""

import base64
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

ANSWERS = sys.argv[1:] or ["200"]


def as_base64(digits: str, size: int) -> str:
    """OTLP spells ids as hexadecimal digits, the decoder of protobuf expects base64."""
    assert len(digits) == 2 * size, f"{digits!r} is no id of {size} bytes"
    return base64.b64encode(bytes.fromhex(digits)).decode()


def decode(body: bytes) -> ExportTraceServiceRequest:
    document = json.loads(body)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key, size in {"traceId": 16, "spanId": 8, "parentSpanId": 8}.items():
                    if key in span:
                        span[key] = as_base64(span[key], size)
    # Unknown fields and values of the wrong type are errors here.
    return json_format.ParseDict(document, ExportTraceServiceRequest())


def attributes(pairs) -> dict:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


def told(request: ExportTraceServiceRequest) -> list[dict]:
    return [
        {
            "resource": attributes(resource.resource.attributes),
            "scope": scope.scope.name,
            "name": span.name,
            "kind": span.kind,
            "trace_id": span.trace_id.hex(),
            "span_id": span.span_id.hex(),
            "parent_span_id": span.parent_span_id.hex(),
            "flags": span.flags,
            "start": span.start_time_unix_nano,
            "end": span.end_time_unix_nano,
            "attributes": attributes(span.attributes),
            "status": [span.status.code, span.status.message],
        }
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


class Collector(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = ANSWERS.pop(0) if len(ANSWERS) > 1 else ANSWERS[0]
        try:
            assert self.path == "/v1/traces", self.path
            assert self.headers["Content-Type"] == "application/json", self.headers
            seen = {"spans": told(decode(body)), "key": self.headers["x-key"], "answer": answer}
        except Exception as error:
            seen = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(seen), flush=True)
        if answer == "hang":
            threading.Event().wait()
        status, reply = 200, ExportTraceServiceResponse()
        if answer.startswith("partial:"):
            rejected = int(answer.removeprefix("partial:"))
            reply.partial_success.CopyFrom(ExportTracePartialSuccess(rejected_spans=rejected))
        else:
            status = int(answer)
        content = json_format.MessageToJson(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_) -> None:
        pass


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"ready http://127.0.0.1:{server.server_port}", flush=True)
    # Ends with the process that started it.
    sys.stdin.read()


main()
