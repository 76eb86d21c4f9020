import Administration
import Foundation
import Logging
import RecordServer
import TestSupport
import Testing

@testable import tidemark

/// What a supervisor such as systemd hears from a server, over a real socket.
@Suite(.timeLimit(.minutes(10)))
struct SupervisionTests {
    private let directory: TemporaryDirectory
    private var data: String { self.directory.path + "/data" }

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private func start(_ address: String, _ environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(
            ChildProcess.tidemark,
            ["serve", "--data", self.data, "--listen", "127.0.0.1:0"],
            environment: environment.merging(["NOTIFY_SOCKET": address]) { $1 }
        )
    }

    @Test(arguments: [true, false])
    func `a server tells its whole life`(isAbstract: Bool) async throws {
        let address = isAbstract ? "@tidemark-\(UUID().uuidString)" : self.directory.path + "/notify"
        let supervisor = try SupervisorSocket(address)
        let process = try self.start(address)
        await supervisor.waits { $0.count == 2 }
        #expect(supervisor.notices.first == "STATUS=opening the store")
        let ready = try #require(
            supervisor.notices.last?.wholeMatch(of: /READY=1\nSTATUS=listening on 127.0.0.1:(\d+)/)
        )
        // Ready means ready: the first handshake succeeds.
        let port = try #require(Int(ready.1))
        #expect(await ServerProbe.answer(host: "127.0.0.1", port: port, timeout: .seconds(600)) != nil)

        process.signal(SIGHUP)
        await supervisor.waits { $0.count == 4 }
        #expect(
            supervisor.notices[2].wholeMatch(
                of: /RELOADING=1\nMONOTONIC_USEC=\d+\nSTATUS=reading the certificate/
            ) != nil
        )
        #expect(supervisor.notices[3] == "READY=1\nSTATUS=reloaded the certificate")

        // The old certificate stays: the reload has ended all the same.
        let certificate = self.data + "/tls/ca.pem"
        try "no certificate".write(toFile: certificate, atomically: false, encoding: .utf8)
        process.signal(SIGHUP)
        await supervisor.waits { $0.count == 6 }
        #expect(supervisor.notices[5].hasPrefix("READY=1\nSTATUS=keeping the old certificate: "))
        #expect(supervisor.notices[5].contains(certificate))

        process.signal(SIGTERM)
        #expect(await process.outcome().exitCode == 0)
        #expect(supervisor.notices.count == 7)
        #expect(supervisor.notices.last == "STOPPING=1\nSTATUS=answering what is in flight")
    }

    @Test
    func `a server that serves gives signs of life until it has stopped`() async throws {
        let address = self.directory.path + "/notify"
        let supervisor = try SupervisorSocket(address)
        let process = try self.start(address, ["WATCHDOG_USEC": "20000"])
        await supervisor.waits { notices in
            notices.count { $0 == "WATCHDOG=1" } >= 5 && notices.contains { $0.hasPrefix("READY=1") }
        }
        process.signal(SIGTERM)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 0)
        #expect(!outcome.errors.contains("warning"), "\(outcome.errors)")
        #expect(supervisor.notices.contains { $0.hasPrefix("STOPPING=1") })
    }

    /// Another process has the store's only lock for writing: the writer waits, and the watchdog with it.
    @Test
    func `no sign of life comes while the writer waits`() async throws {
        let address = self.directory.path + "/notify"
        let supervisor = try SupervisorSocket(address)
        let process = try self.start(address, ["WATCHDOG_USEC": "20000"])
        await supervisor.waits { $0.contains("WATCHDOG=1") }
        let store = self.data + "/tidemark.sqlite"
        let holder = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/python3"),
            [
                "-c",
                """
                import sqlite3, sys, time
                store = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
                store.execute("BEGIN IMMEDIATE")
                print("held", flush=True)
                time.sleep(600)
                """, store,
            ]
        )
        #expect(await holder.find { $0.contains("held") ? true : nil } == true)
        // One may be on its way. Of two more, the second would have to be of the time of the lock.
        let before = supervisor.notices.count
        try await Task.sleep(for: .seconds(1))
        #expect(supervisor.notices.count <= before + 1)
        holder.signal(SIGKILL)
        await supervisor.waits { $0.count > before + 5 }
        process.signal(SIGTERM)
        #expect(await process.outcome().exitCode == 0)
    }

    @Test(
        arguments: [
            ("relative/path", "neither a path nor an abstract name"),
            ("/" + String(repeating: "n", count: 200), "too long"),
            ("/nowhere/at/all", "No such file or directory"),
        ]
    )
    func `a server serves without the supervisor that it cannot reach, and says so once`(
        address: String,
        reason: String
    ) async throws {
        let process = try self.start(address, ["WATCHDOG_USEC": "20000"])
        #expect(await process.find { $0.contains(" listens on ") ? true : nil } == true)
        process.signal(SIGTERM)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 0)
        let lines = outcome.errors.split(separator: "\n").filter { $0.contains("supervisor cannot be told") }
        #expect(lines.count == 1, "\(outcome.errors)")
        #expect(lines.first?.contains(reason) == true, "\(outcome.errors)")
    }

    @Test(
        arguments: [
            (["WATCHDOG_USEC": "3000000"], 3), (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7"], 3),
            (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "8"], nil), (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "often"], nil), (["WATCHDOG_USEC": "9223372036854775807"], nil),
            (["WATCHDOG_USEC": ""], nil), ([:], nil),
        ] as [([String: String], Int?)]
    )
    func `the watchdog's interval is that of this process`(environment: [String: String], seconds: Int?) {
        func interval(_ socket: String) -> Duration? {
            Supervisor(
                environment: environment.merging(["NOTIFY_SOCKET": socket]) { $1 },
                process: 7,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ).watchdogInterval
        }
        #expect(interval("/run/notify") == seconds.map { .seconds($0) })
        #expect(interval("") == nil)
    }

    @Test
    func `the time of a reload is of the clock that systemd reads`() async throws {
        func monotonicMicroseconds() async throws -> UInt64 {
            let python = URL(fileURLWithPath: "/usr/bin/python3")
            let program = "import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000, end='')"
            return try #require(UInt64(try await ChildProcess.run(python, ["-c", program]).output))
        }
        let before = try await monotonicMicroseconds()
        let ours = SystemTime.monotonicMicroseconds
        #expect(try await (before...monotonicMicroseconds()).contains(ours))
    }

    @Test
    func `a reload before the start or after the stop is not told`() async throws {
        let address = self.directory.path + "/notify"
        let socket = try SupervisorSocket(address)
        let supervisor = Supervisor(
            environment: ["NOTIFY_SOCKET": address],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let reload: [SupervisorNotice] = [.reloading(monotonicMicroseconds: 1), .reloaded(failure: "a\nb")]
        for notice in reload { supervisor.tell(notice) }
        supervisor.tell(.ready(address: "[::1]:7430"))
        for notice in reload { supervisor.tell(notice) }
        supervisor.tell(.stopping)
        for notice in reload { supervisor.tell(notice) }
        supervisor.tell(.alive)
        await socket.waits { $0.last == "WATCHDOG=1" }
        let heads = socket.notices.map { String($0.prefix { $0 != "=" }) }
        #expect(heads == ["READY", "RELOADING", "READY", "STOPPING", "WATCHDOG"])
        #expect(socket.notices[2] == "READY=1\nSTATUS=keeping the old certificate: a b")
    }
}
