"""Reads metrics from standard input as Prometheus would and prints what it understood as JSON."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families


def main() -> None:
    families = {}
    for family in text_string_to_metric_families(sys.stdin.read()):
        assert family.name not in families, f"{family.name} is there twice"
        assert family.documentation, f"{family.name} has no help"
        samples = [[sample.name, sample.labels, sample.value] for sample in family.samples]
        keys = [(name, tuple(sorted(labels.items()))) for name, labels, _ in samples]
        assert len(keys) == len(set(keys)), f"{family.name} has a sample twice"
        families[family.name] = {"type": family.type, "samples": samples}
    print(json.dumps(families))


main()
