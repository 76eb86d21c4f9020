"""Counts what held and what did not."""


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, name, actual, expected):
        if actual == expected:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {name}: got {actual!r}, expected {expected!r}")

    def check_among(self, name, actual, expected):
        self.check(name, actual, actual if actual in expected else expected)

    def finish(self):
        """Prints the last line; returns the exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
