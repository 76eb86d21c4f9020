"""Where the processor time of a row goes, by perf: shares of server and driver, of ours and of PostgreSQL."""

import os
import re
import subprocess
import threading
import time

from processes import Failure

FREQUENCY = 1_999
SECONDS = 4
# Debian's SQLite, which programs contain: its names tell its functions from ours.
SQLITE = "/usr/lib/x86_64-linux-gnu/libsqlite3.a"

# By the call of the kernel in which a sample was taken, the first that fits.
CALLS = [
    ("kernel: wake-ups and turns of threads", r"futex|eventfd|sched_yield"),
    ("kernel: sockets, sent", r"ksys_write|sys_write|sys_writev|sys_sendto|sys_sendmsg|sock_write_iter"),
    ("kernel: sockets, received", r"ksys_read|sys_read|sys_recvfrom|sys_recvmsg|sock_read_iter"),
    ("kernel: waiting for sockets", r"epoll|sys_poll|ppoll|select"),
    ("kernel: memory", r"exc_page_fault|sys_madvise|sys_mmap|sys_munmap|sys_brk"),
]
# By the function, or the library that it is in.
PLACES = [
    ("TLS", r"BoringSSL|bssl|NIOSSL|aesni|aes_|gcm_|ghash|sha256_|libcrypto|libssl|vaes|AEAD"),
    ("copies of bytes", r"^__mem(move|cpy|set|cmp)|^mem(move|cpy|set|cmp)"),
    ("memory and reference counts",
     r"^_?swift_|^(_int_)?(malloc|free|realloc|calloc)|^malloc_consolidate|^unlink_chunk|^tcache|^_int_|^cfree"
     r"|^__libc_(malloc|free|calloc)|outlined (copy|consume|destroy)|posix_memalign|Wo[ghcbdesr]$"),
    ("NIO", r"NIOPosix|NIOCore|NIOConcurrency|CNIO"),
    ("Tidemark", r"RecordServer|RecordStore|RecordModel|SQLiteEngine|EngineThreads|Transport|WireProtocol|LoadTest"
                 r"|tidemark_load|RecordClient|FileIO"),
]
SAMPLE = re.compile(r"^(\S.*?)\s+(\d+)\s*$")
PROGRAM = re.compile(r"/(tidemark|tidemark-load|postgres|pgbench)\)$")


def names_of_sqlite():
    """The functions of SQLite, also those that are not exported."""
    if not os.path.exists(SQLITE):
        return set()
    listed = subprocess.run(["nm", SQLITE], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if re.search(r" [tT] \S+$", line)}


class Profile:
    """Samples of all processors while a function runs."""

    def __init__(self, folder):
        self.file = os.path.join(folder, "perf.data")
        self.sqlite = names_of_sqlite()

    def record(self, work):
        """Calls `work`, which takes longer than the samples do."""
        def sample():
            time.sleep(1)
            subprocess.run(["perf", "record", "-q", "-a", "-g", "-F", str(FREQUENCY), "-o", self.file, "--",
                            "sleep", str(SECONDS)], check=True, capture_output=True)

        thread = threading.Thread(target=sample)
        thread.start()
        try:
            return work()
        finally:
            thread.join()

    def samples(self):
        """Program and category of each sample of the programs that are measured."""
        output = subprocess.run(["perf", "script", "-i", self.file, "-F", "comm,pid,ip,sym,dso", "--no-inline"],
                                check=True, capture_output=True, text=True, errors="replace").stdout
        programs, samples = {}, []
        for block in output.split("\n\n"):
            lines = [line for line in block.splitlines() if line]
            head = lines and SAMPLE.match(lines[0])
            if head and len(lines) > 1:
                # Threads have names of their own, and a sample in the kernel may show nothing of its program.
                program = next((found[1] for found in map(PROGRAM.search, lines[1:]) if found), None)
                programs.setdefault(head[2], program)
                programs[head[2]] = programs[head[2]] or program
                samples.append((head[2], self.category(lines[1:])))
        return [(programs[process], category) for process, category in samples if programs[process]]

    def category(self, stack):
        """What a sample belongs to, by its innermost function, and in the kernel by the call."""
        inner = stack[0].split(None, 1)[1] if " " in stack[0].strip() else stack[0]
        if "[kernel" in inner or "[guest" in inner:
            frames = "\n".join(line for line in stack if "[kernel" in line)
            return next((name for name, calls in CALLS if re.search(calls, frames)), "kernel: interrupts and the rest")
        name = inner.strip().split("+")[0].split(" (")[0]
        if name in self.sqlite or name.startswith("sqlite3"):
            return "SQLite"
        whole = inner.strip()
        found = next((place for place, pattern in PLACES if re.search(pattern, name)), None)
        if found:
            return found
        if re.search(r"libcrypto|libssl", whole):
            return "TLS"
        return "PostgreSQL" if re.search(r"/bin/(postgres|pgbench)|libpq", whole) else "the rest"


def divide(samples):
    """Shares of each category for each program."""
    counts = {}
    for program, category in samples:
        found = counts.setdefault(program, {})
        found[category] = found.get(category, 0) + 1
    return {program: {category: count / sum(found.values()) for category, count in found.items()}
            for program, found in counts.items()}


def profile(row, sides, folder, seed):
    """Measures each side of a row once more, and returns microseconds of a request by program and category."""
    columns = {}
    for side in sides:
        found = Profile(folder)
        measured = found.record(lambda: side.measure(row, SECONDS + 3, seed))
        shares = divide(found.samples())
        for program, key in zip(side.programs, ("server_cpu_us", "client_cpu_us")):
            if program not in shares:
                raise Failure(f"{row.workload}: perf saw nothing of {program}; does it run as root?")
            columns[program] = {category: share * measured[key] for category, share in shares[program].items()}
    return columns


def table(title, columns):
    """A table of microseconds by category, and their sum: what the row takes."""
    categories = sorted({category for column in columns.values() for category in column},
                        key=lambda category: -max(column.get(category, 0) for column in columns.values()))
    lines = [f"| `{title}`, µs a request | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for category in categories:
        lines.append(f"| {category} | {' | '.join(f'{column.get(category, 0):,.1f}' for column in columns.values())} |")
    return "\n".join(lines + [f"| all | {' | '.join(f'{sum(column.values()):,.1f}' for column in columns.values())} |"])
