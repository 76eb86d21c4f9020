"""The peer of reads from a store in PostgreSQL: the statements of our server, by pgbench, on tables that our server has filled."""

import os

from postgresql import PostgreSQL, SCRIPTS
from processes import run, stop
from tidemark import Tidemark

# Of the sessions of our server, as far as they have an effect on these statements.
SETTINGS = ("enable_seqscan=off", "enable_bitmapscan=off", "enable_hashjoin=off", "enable_mergejoin=off", "jit=off",
            "plan_cache_mode=force_generic_plan")
ZONES = {"fetch": "shared", "query-equality": "library", "change-page": "changes"}
# Of the versions, of the zone and its database, and of the record that shows whether there is another page.
ROWS_BESIDE = {"fetch": 1, "query-equality": 1, "change-page": 4}
# Numbers that stand for names, and bounds, as our server sends them.
VALUES = {
    "fetch": "SELECT database, number AS zone FROM tidemark.zone WHERE name = '{zone}'",
    "query-equality": """
        SELECT z.database, z.number AS zone, f.index_number AS index, 0 AS from, 64 AS limit, 65536 AS bytes
        FROM tidemark.zone AS z, tidemark.field AS f JOIN tidemark.record_type AS t ON t.number = f.record_type
        WHERE z.name = '{zone}' AND t.name = 'Book' AND f.name = 'author'
    """,
    "change-page": """
        SELECT z.database, z.number AS zone, z.name, 201 AS limit, 20867 AS bytes,
            (SELECT min(position) FROM tidemark.change WHERE database = z.database AND zone = z.number) AS first,
            (SELECT position FROM tidemark.change WHERE database = z.database AND zone = z.number
             ORDER BY position DESC LIMIT 1 OFFSET 201) AS last
        FROM tidemark.zone AS z WHERE z.name = '{zone}'
    """,
}


class SameStatements(PostgreSQL):
    def __init__(self, folder, executables):
        super().__init__(folder, "same-statements")
        self.name += ", same statements"
        self.filler = Tidemark(os.path.join(folder, "filler"), executables, store=self)
        self.values = {}

    def start(self):
        super().start()
        self._psql("-f", f"{SCRIPTS}/same/functions.sql")
        os.mkdir(self.filler.folder)
        self.filler.start()
        stop(self.filler.server)
        self.environment["PGOPTIONS"] = " ".join(f"-c {setting}" for setting in SETTINGS)

    def fill(self, row):
        """Has a server of ours make the rows, which ends then: nobody else uses the tables while they are measured."""
        self.filler.restart()
        try:
            self.filler.load(row)
        finally:
            stop(self.filler.server)

    def _script(self, row):
        return f"{SCRIPTS}/same/{row.workload}.sql"

    def _variables(self, row):
        if row.workload not in self.values:
            output = self._psql("-x", "-At", "-F", "=", "-c", VALUES[row.workload].format(zone=ZONES[row.workload]))
            self.values[row.workload] = dict(line.split("=", 1) for line in output.splitlines())
        return self.values[row.workload]

    def _sample(self, row):
        values = self._variables(row)
        sample = {"position": values["first"]} if row.workload == "change-page" else row.sample
        return {name: value if str(value).isdecimal() else f"'{value}'" for name, value in {**values, **sample}.items()}

    def _rows_beside(self, row):
        return ROWS_BESIDE[row.workload]

    def stop(self):
        self.filler.stop()
        super().stop()
