import Foundation
import RecordModel
import RecordStore
import Synchronization
import TestSupport
import Testing

@testable import Console

/// Plots, logs and backups in Debian's Chromium; and the picture of the README.
///
/// `TIDEMARK_CHROMIUM=1` makes it a failure if there is none.
@Suite(
    .enabled(
        if: Browser.isThere || Browser.isWanted,
        "no Chromium is installed: apt-get install chromium chromium-driver"
    ),
    .serialized,
    .timeLimit(.minutes(10))
)
struct OperationBrowserTests {
    /// A console with figures, a log and backups, and what a test may steer.
    private final class Operation: Sendable {
        let scene: ConsoleScene
        let log: String
        private let backup = Mutex((done: Int64(0), isReleased: false))

        init() throws {
            self.scene = try ConsoleScene.withAlice()
            self.log = self.scene.folder.path + "/server.log"
            let (log, now) = (self.log, self.scene.clock.milliseconds)
            try Self.lines.write(toFile: log, atomically: false, encoding: .utf8)
            self.scene.adjust { configuration in
                configuration.serverState = { .serving(address: "127.0.0.1:7430") }
                configuration.telemetry = { .found(PlotTests.telemetry($0, now: now)) }
                configuration.log = { .file(log) }
                configuration.backups = BackupDesk(list: { BackupPageTests.known(now: now) }) {
                    _,
                    _,
                    progress in
                    while !self.backup.withLock({ $0.isReleased }) {
                        progress(self.backup.withLock { $0.done }, 4_000_000)
                        usleep(5_000)
                    }
                    return .made(bytes: 4_000_000, assets: 12)
                }
            }
        }

        func progress(_ done: Int64) { self.backup.withLock { $0.done = done } }
        func release() { self.backup.withLock { $0.isReleased = true } }

        func append(_ line: String) throws {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: self.log))
            try file.seekToEnd()
            try file.write(contentsOf: Data((line + "\n").utf8))
        }

        private static let lines = (0..<40).map { number in
            let second = number < 10 ? "0\(number)" : "\(number)"
            let line =
                switch number % 5 {
                case 0: #"info metrics requests.modify_records=1204 requests.query_records=311 commits=88"#
                case 1:
                    #"warning sign-in refused container=iCloud.org.example.app peer=192.0.2.7:49858 reason="the token has expired""#
                case 2:
                    #"error the request failed code=internal_error request=0199a3c2-7d40-7c11-9d2e-5b0c6f3a81\#(second) user=alice operation=modify_records"#
                case 3: #"debug connection opened connection=\#(number) peer=[2001:db8::1]:50111"#
                default:
                    #"info listener began container=iCloud.org.example.app user=alice subscription="recipes \#u{202E}turned <b>""#
                }
            return "2023-11-14T22:13:\(second).071Z " + line + "\n"
        }.joined()
    }

    private func browsing(
        _ scene: ConsoleScene,
        _ body: @escaping @Sendable (Browser, String) async throws -> Void
    ) async throws {
        try #require(Browser.isThere, "TIDEMARK_CHROMIUM is set, and there is no chromium with its driver")
        try await scene.running { client, link in
            let browser = try await Browser.start()
            do {
                try await browser.go("http://\(client.host)\(link)")
                try await browser.wait(for: "document.title.startsWith('Containers')")
                try await body(browser, "http://\(client.host)")
                await browser.end()
            } catch {
                await browser.end()
                throw error
            }
        }
    }

    static let pages: [(name: String, path: String)] = [
        ("telemetry", "/telemetry"), ("telemetry-day", "/telemetry?span=day"),
        ("telemetry-one", "/telemetry/requests"), ("logs", "/logs"),
        ("logs-filtered", "/logs?level=error&user=alice"), ("logs-none", "/logs?text=nothing+has+this"),
        ("codes", "/logs/codes#zone_not_found"),
        ("backups", "/backups"),
    ]

    @Test
    func `pages about the server fit, read well in both themes, and break no rule of accessibility`()
        async throws
    {
        let operation = try Operation()
        try await self.browsing(operation.scene) { browser, base in
            try await browser.inspect(Self.pages, of: base)
        }
        await operation.scene.shutdown()
    }

    @Test
    func `plots answer the pointer and arrow keys, and have a table`() async throws {
        let operation = try Operation()
        let axe = try await Axe.script()
        try await self.browsing(operation.scene) { browser, base in
            try await browser.show(on: .desk, .light)
            try await browser.go(base + "/telemetry")
            let picture = "document.querySelector('.picture')"
            let value = "document.querySelector('.legend .value').textContent"
            try await browser.wait(for: "\(picture).getAttribute('role') === 'slider'")
            _ = try await browser.evaluate("\(picture).focus()")
            #expect(try await browser.evaluate("\(picture).getAttribute('aria-valuenow')") == "\"359\"")
            let last = try await browser.evaluate(value)
            // Ten to the left, and to the first.
            try await browser.type(String(repeating: "\u{E012}", count: 10))
            #expect(try await browser.evaluate("\(picture).getAttribute('aria-valuenow')") == "\"349\"")
            #expect(try await browser.evaluate(value) != last)
            #expect(
                try await browser.evaluate(
                    "\(picture).getAttribute('aria-valuetext').includes('modify_records ')"
                )
                    == "true"
            )
            try await browser.type("\u{E011}")
            #expect(try await browser.evaluate("\(picture).getAttribute('aria-valuenow')") == "\"0\"")
            try await browser.type("\u{E012}")
            #expect(try await browser.evaluate("\(picture).getAttribute('aria-valuenow')") == "\"0\"")
            #expect(try await browser.evaluate("document.querySelector('.moment').hidden") == "false")
            let violations = try await Axe.violations(axe, in: browser)
            #expect(violations == [])
            // Without the focus the last values stand there again.
            _ = try await browser.evaluate("document.activeElement.blur()")
            #expect(try await browser.evaluate(value) == last)
            // The pointer, in a gap.
            let hover = """
                (() => {
                    const picture = \(picture);
                    const box = picture.getBoundingClientRect();
                    picture.dispatchEvent(new PointerEvent("pointermove",
                        { clientX: box.left + box.width * 135.5 / 360, clientY: box.top + 5 }));
                    return \(value);
                })()
                """
            #expect(try await browser.evaluate(hover) == "\"not known\"")
            try await browser.picture("telemetry-cursor")
            _ = try await browser.evaluate("document.querySelector('.plot details').open = true")
            #expect(
                try await browser.evaluate(
                    "document.querySelectorAll('.plot details')[0].querySelectorAll('tbody tr').length"
                ) == "12"
            )
            _ = try await browser.evaluate("document.querySelector('.plot details a').click()")
            try await browser.wait(for: "location.pathname === '/telemetry/requests'")
        }
        await operation.scene.shutdown()
    }

    @Test
    func `a log is filtered and followed, and pauses`() async throws {
        let operation = try Operation()
        try await self.browsing(operation.scene) { browser, base in
            try await browser.go(base + "/logs?level=warning")
            let rows = "document.querySelectorAll('#lines tbody tr').length"
            #expect(try await browser.evaluate(rows) == "16")
            try await browser.wait(
                for: "document.querySelector('[data-live-state]').textContent === 'Following.'"
            )
            try operation.append("2023-11-14T22:14:00.000Z info not one of them")
            try operation.append(
                "2023-11-14T22:14:01.000Z error it <b>failed</b> user=\"a\u{202E}b\" code=zone_busy"
            )
            try await browser.wait(for: "document.querySelector('#lines tr.new')")
            #expect(try await browser.evaluate(rows) == "17")
            let new = "document.querySelector('#lines tr.new').innerText.replace(/\\s+/g, ' ')"
            let text = try await browser.evaluate(new)
            #expect(text.contains("it <b>failed</b>") && text.contains("a[U+202E]b"))
            try await browser.picture("logs-followed")
            _ = try await browser.evaluate("document.querySelector('[data-pause]').click()")
            try operation.append("2023-11-14T22:14:02.000Z error while it was paused")
            try await browser.wait(
                for: "document.querySelector('[data-live-state]').textContent === 'Paused.'"
            )
            #expect(try await browser.evaluate(rows) == "17")
            _ = try await browser.evaluate("document.querySelector('[data-pause]').click()")
            try await browser.wait(
                for: "document.querySelector('#lines').innerText.includes('while it was paused')"
            )
            // A user of a line leads to all lines of the user.
            _ = try await browser.evaluate("document.querySelector('#lines a[href*=\"user=alice\"]').click()")
            try await browser.wait(for: "document.querySelector('input[name=user]').value === 'alice'")
            #expect(try await browser.evaluate(rows) == "16")
        }
        await operation.scene.shutdown()
    }

    @Test
    func `a backup is made from the page, with its progress`() async throws {
        let operation = try Operation()
        try await self.browsing(operation.scene) { browser, base in
            // A console waits for its backup, also when the test fails.
            defer { operation.release() }
            try await browser.show(on: .desk, .light)
            try await browser.go(base + "/backups")
            let button = "document.querySelector('main form button')"
            // The box has to say so: the browser keeps the form.
            _ = try await browser.evaluate("\(button).click()")
            #expect(
                try await browser.evaluate("document.querySelector('main form').matches(':invalid')")
                    == "true"
            )
            _ = try await browser.evaluate(
                "document.querySelector('[name=served]').click(); \(button).click()"
            )
            try await browser.wait(for: "document.querySelector('progress')")
            operation.progress(3_000_000)
            try await browser.wait(for: "document.querySelector('progress').value === 3000000")
            #expect(
                try await browser.evaluate("document.querySelector('[data-live-state]').textContent")
                    == "\"2.9 MiB of 3.8 MiB\""
            )
            try await browser.inspectPresent("backups-running")
            try await browser.submit(["path": "/mnt/other", "served": "yes"], to: "/backups")
            try await browser.waitForTitle("Not begun")
            try await browser.inspectPresent("failure-not-begun")
            // The page leads back.
            try await browser.click(".tools a[href='/backups']")
            try await browser.wait(for: "document.querySelector('progress')")
            operation.release()
            try await browser.wait(
                for: "document.body.innerText.includes('is complete: 3.8 MiB, 12 assets.')"
            )
            try await browser.inspectPresent("backups-made")
        }
        await operation.scene.shutdown()
    }

    // MARK: The README

    /// The README's picture is this one; `Scripts/picture` copies it to its place.
    @Test
    func `the picture of the README can be made`() async throws {
        let scene = try ConsoleScene.withAlice()
        let dishes = [
            "Apple crumble", "Borscht", "Carrot soup", "Dal with spinach", "Egg curry", "Flammkuchen",
            "Gazpacho",
            "Hummus", "Irish stew", "Jollof rice", "Kimchi pancakes", "Lentil salad",
        ]
        try await scene.makeZones(["Recipes"])
        let names = ["autumn", "weekday", "guests"]
        try await scene.save(
            dishes.enumerated().map { number, dish in
                (
                    dish.lowercased().replacing(" ", with: "-"),
                    [
                        Field(name: "minutes", value: .int64(Int64(20 + number * 17 % 70))),
                        Field(name: "servings", value: .int64(Int64(2 + number % 3 * 2))),
                        Field(
                            name: "tags",
                            value: .stringList([names[number % 3], names[(number + 1) % 3]])
                        ),
                        Field(name: "title", value: .string(dish)),
                        Field(name: "tried", value: .timestamp(785_000_000 + Double(number) * 86_400)),
                    ]
                )
            },
            type: "Recipe",
            zone: "Recipes"
        )
        try await self.browsing(scene) { browser, base in
            try await browser.show(on: .desk, .light)
            let query =
                "database=private&user=alice&type=Recipe&zone=Recipes&field=minutes&test=ge&value=30&sort=minutes&order=ascending"
            try await browser.go(base + ConsoleScene.place + "/records?" + query)
            #expect(try await browser.evaluate("document.querySelectorAll('tbody tr').length > 5") == "true")
            let path = try await browser.picture("readme", isWhole: false)
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? .max
            #expect(size < 200 * 1_024, "the README's picture has to stay small")
        }
        await scene.shutdown()
    }
}

extension Browser {
    static let isWanted = ProcessInfo.processInfo.environment["TIDEMARK_CHROMIUM"] == "1"
    static let isThere = [Browser.program, Browser.driver].allSatisfy {
        FileManager.default.isExecutableFile(atPath: $0)
    }
}
