import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Console

/// Backups on the page; the real ones are in `OperationProcessTests`.
@Suite(.timeLimit(.minutes(10)))
struct BackupPageTests {
    static func known(now: Int64) -> KnownBackups {
        var known = KnownBackups()
        let rows: [(String, KnownBackups.State)] = [
            ("/mnt/backups/2026-11-26", .complete), ("/mnt/backups/2026-11-25", .lacking(assets: 2)),
            ("/mnt/backups/<b>\u{202E}x", .missing), ("/mnt/backups/half", .incomplete),
            ("/mnt/backups/odd", .unreadable("backup.json is damaged. Make another backup.")),
        ]
        known.backups = rows.enumerated().map { offset, row in
            var backup = KnownBackups.Backup(path: row.0, kind: .folder, state: row.1)
            backup.milliseconds = now - Int64(offset) * 86_400_000 - 3 * 3_600_000
            backup.bytes = 3_456_789_012
            backup.assets = 1_234
            backup.server = "0.1.0"
            return backup
        }
        var continued = KnownBackups.Backup(path: "/mnt/follow", kind: .continued, state: .complete)
        continued.milliseconds = now - 60_000
        known.backups.insert(continued, at: 0)
        known.drills = [
            KnownBackups.Drill(
                path: "/mnt/backups/2026-11-26",
                milliseconds: now - 7_200_000,
                seconds: 41.2,
                records: 1_204_331,
                problems: []
            ),
            KnownBackups.Drill(
                path: "/mnt/backups/2026-11-24",
                milliseconds: now - 200_000_000,
                seconds: 12,
                records: 1_200_000,
                problems: ["assets/2a/2a61: <script>missing</script>"]
            ),
        ]
        known.suggestedPath = "/mnt/backups/2026-11-27"
        return known
    }

    @Test
    func `the page has ages, states and rehearsals, and draws names as text`() async throws {
        let scene = try ConsoleScene()
        let now = scene.clock.milliseconds
        scene.adjust { $0.backups = BackupDesk(list: { Self.known(now: now) }) { _, _, _ in .failed("no") } }
        try await scene.browsing { client in
            let page = try await client.get("/backups").body
            for text in [
                "1 minute", "3 hours", "27 hours", "2 days", "lacks 2 assets", "not there now", "incomplete",
                "backup.json is damaged.", "passed", "failed", "3.2 GiB", "1,204,331", "42 s",
                "value=\"/mnt/backups/2026-11-27\"",
            ] {
                #expect(page.contains(text), "\(text)")
            }
            #expect(!page.contains("<script>missing") && !page.contains("/<b>") && !page.contains("\u{202E}"))
        }
        await scene.shutdown()
    }

    @Test
    func `one backup is made at a time, with its progress, and its end is shown`() async throws {
        let scene = try ConsoleScene()
        let gate = Mutex((done: Int64(0), isReleased: false))
        scene.adjust { configuration in
            configuration.backups = BackupDesk(list: { KnownBackups() }) { path, isStopping, progress in
                while !gate.withLock({ $0.isReleased }) {
                    progress(gate.withLock { $0.done }, 100)
                    if isStopping() { return .failed("stopped") }
                    usleep(5_000)
                }
                return path.hasSuffix("bad") ? .failed("<b>no room</b>") : .made(bytes: 2_048, assets: 3)
            }
        }
        try await scene.browsing { client in
            let page = try await client.get("/backups").body
            let secret = try #require(page.firstMatch(of: /name="secret" value="([^"]+)"/)).1
            #expect(try await client.post("/backups", "path=/a").status == 403, "no secret")
            for bad in ["", "relative", "%00/a", "/" + String(repeating: "a", count: 5_000)] {
                #expect(
                    try await client.post("/backups", "secret=\(secret)&path=\(bad)").status == 400,
                    "\(bad.prefix(9))"
                )
            }
            let begun = try await client.post("/backups", "secret=\(secret)&path=/mnt/good")
            #expect(begun.status == 303 && begun.fields["location"] == "/backups")
            #expect(try await client.post("/backups", "secret=\(secret)&path=/mnt/other").status == 409)
            let running = try await client.get("/backups").body
            #expect(running.contains("<progress") && running.contains("/mnt/good"))
            #expect(!running.contains("<form class=\"query\" method=\"post\""))
            let peer = try await client.peer("GET", "/backups/events")
            gate.withLock { $0.done = 50 }
            _ = await peer.text { $0.contains("\"done\":50,\"total\":100") }
            gate.withLock { $0.isReleased = true }
            _ = await peer.text { $0.contains("\"ended\":true") }
            await peer.close()
            #expect(try await client.get("/backups").body.contains("is complete: 2.0 KiB, 3 assets."))
            #expect(try await client.post("/backups", "secret=\(secret)&path=/mnt/bad").status == 303)
            var end = ""
            while !end.contains("There is no backup") {
                end = try await client.get("/backups").body
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(end.contains("&lt;b&gt;no room&lt;/b&gt;"))
        }
        await scene.shutdown()
    }

    @Test
    func `a folder that is served is copied only if the box says so`() async throws {
        let scene = try ConsoleScene()
        scene.adjust { configuration in
            configuration.serverState = { .serving(address: "127.0.0.1:1") }
            configuration.backups = BackupDesk(list: { KnownBackups() }) { _, _, _ in
                .made(bytes: 1, assets: 0)
            }
        }
        try await scene.browsing { client in
            let page = try await client.get("/backups").body
            #expect(page.contains("name=\"served\" value=\"yes\" required"))
            let secret = try #require(page.firstMatch(of: /name="secret" value="([^"]+)"/)).1
            #expect(try await client.post("/backups", "secret=\(secret)&path=/a").status == 400)
            #expect(try await client.post("/backups", "secret=\(secret)&path=/a&served=yes").status == 303)
        }
        await scene.shutdown()
    }

    @Test
    func `an obstacle stands in the place of the form`() async throws {
        let scene = try ConsoleScene()
        scene.adjust { configuration in
            configuration.backups = BackupDesk(
                list: {
                    var known = KnownBackups()
                    known.obstacle = "The store is in PostgreSQL."
                    return known
                },
                make: { _, _, _ in .failed("") }
            )
        }
        try await scene.browsing { client in
            let page = try await client.get("/backups").body
            #expect(page.contains("The store is in PostgreSQL."))
            #expect(!page.contains("Make a backup</button>"))
        }
        await scene.shutdown()
    }
}
