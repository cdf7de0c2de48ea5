"""Helpers for the desks of all libraries: writes spans to a file as JSON lines, and retries a turn."""

import os
import sys
from pathlib import Path

from opentelemetry import trace
from opentelemetry._logs import set_logger_provider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import ConsoleLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

INSTRUCTIONS = "Be brief."
TURNS = ("Where are W1 and W2?", "Thanks.")
STATUSES = {"W1": "shipped on Monday", "W2": "shipped on Tuesday"}


def open_spans():
    """Opens the file that the spans are added to. A library may print to stdout itself."""
    return Path(os.environ["SPANS_FILE"]).open("a", encoding="utf-8")


def write_spans() -> TracerProvider:
    """Writes each span that ends as one line of JSON, in the form of the SDK."""
    provider = TracerProvider()
    exporter = ConsoleSpanExporter(out=open_spans(), formatter=lambda span: span.to_json(indent=None) + "\n")
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return provider


def write_logs() -> None:
    """Writes each log record as one line of JSON, in the form of the SDK."""
    provider = LoggerProvider()
    exporter = ConsoleLogRecordExporter(out=open_spans(), formatter=lambda record: record.to_json(indent=None) + "\n")
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    set_logger_provider(provider)


async def tried_twice(turn, *given, **named):
    """Returns what a turn returns, after a second attempt where the first one failed."""
    try:
        return await turn(*given, **named)
    except Exception as error:
        print(f"first attempt: {error!r}"[:200], file=sys.stderr)
        return await turn(*given, **named)
