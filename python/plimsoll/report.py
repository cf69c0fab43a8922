"""Reports: what the library decided, or counted."""

from __future__ import annotations

import json


class Report(dict):
    """A dict of what the library wrote, which is JSON: `report.text`. Keys may become more.

    >>> from plimsoll.report import Report
    >>> Report('{"stack": {"f": 24}}')
    Report {
      "stack": {
        "f": 24
      }
    }
    """

    def __init__(self, text: str):
        super().__init__(json.loads(text))
        self.text = text

    def __str__(self):
        return json.dumps(self, indent=2)

    def __repr__(self):
        return f"Report {self}"

    def __reduce__(self):
        return Report, (self.text,)
