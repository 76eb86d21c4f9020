import Foundation
import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import Console

let isBrowserWanted = ProcessInfo.processInfo.environment["TIDEMARK_CHROMIUM"] == "1"
let hasBrowser = [Browser.program, Browser.driver].allSatisfy {
    FileManager.default.isExecutableFile(atPath: $0)
}

/// The console in Debian's Chromium: pages that fit and read well, keys, and changes as they come.
///
/// Pictures of all pages are in `console` in the build's folder. Where there is no Chromium the tests
/// say so; `TIDEMARK_CHROMIUM=1` makes that a failure.
@Suite(
    .enabled(
        if: hasBrowser || isBrowserWanted,
        "no Chromium is installed: apt-get install chromium chromium-driver"
    ),
    .serialized,
    .timeLimit(.minutes(10))
)
struct BrowserTests {
    private static let place = ConsoleScene.place
    private static let own = "database=private&user=alice"

    /// A store with something on every page.
    private func scene() async throws -> ConsoleScene {
        let scene = try ConsoleScene.withAlice()
        try await scene.makeZones(["Recipes", "Travel"])
        try await scene.save(
            [("folder-1", [Field(name: "title", value: .string("Soups"))])],
            type: "Folder",
            zone: "Recipes"
        )
        let notes = (0..<30).map { number in
            (
                "note-\(number)",
                [
                    Field(name: "count", value: .int64(Int64(number) * 1_713)),
                    Field(
                        name: "folder",
                        value: .reference(Reference(recordName: "folder-1", action: .none))
                    ),
                    Field(name: "isDone", value: .int64(Int64(number % 2))),
                    Field(name: "place", value: .location(Location(latitude: 52.52, longitude: 13.405))),
                    Field(name: "secret", value: .bytes([1, 2, 3, 4]), isEncrypted: true),
                    Field(name: "tags", value: .stringList(["winter", "vegan", "quick"])),
                    Field(
                        name: "text",
                        value: .string(
                            String(repeating: "Chop the onions, and stir them in butter. ", count: 12)
                        )
                    ),
                    Field(name: "title", value: .string("Onion soup no. \(number) \u{202E}turned")),
                    Field(name: "updated", value: .timestamp(785_000_000 + Double(number) * 3_600)),
                ]
            )
        }
        try await scene.save(notes, zone: "Recipes", parent: "folder-1")
        try await scene.save(
            [("news", [Field(name: "title", value: .string("For all"))])],
            type: "Post",
            scope: .public
        )
        let subscription = Subscription(
            id: "recipes",
            kind: .query(
                recordType: "Note",
                predicate: .all,
                zone: ZoneID(zoneName: "Recipes"),
                firesOn: .events
            )
        )
        try await scene.write(
            .modifySubscriptions(ModifySubscriptions(scope: .private, saves: [subscription])),
            by: scene.requester()
        )
        return scene
    }

    /// Runs a console with a browser, which ends before the console: it keeps connections open.
    private func browsing(
        _ scene: ConsoleScene,
        _ body: @escaping @Sendable (Browser, ConsoleClient, String) async throws -> Void
    ) async throws {
        try #require(hasBrowser, "TIDEMARK_CHROMIUM is set, and there is no chromium with its driver")
        try await scene.running { client, link in
            let browser = try await Browser.start()
            do {
                try await body(browser, client, link)
                await browser.end()
            } catch {
                await browser.end()
                throw error
            }
        }
    }

    static let pages: [(name: String, path: String)] = [
        ("start", "/"), ("container", place), ("records", place + "/records?\(own)"),
        (
            "query",
            place + "/records?\(own)&type=Note&field=isDone&test=eq&value=1&sort=count&order=descending"
        ),
        ("query-error", place + "/records?\(own)&type=Note&predicate=secret%20%3D%3D%201"),
        ("fetch", place + "/records/fetch?\(own)&zone=Recipes&names=note-1%0Anote-2%0Anone"),
        ("changes", place + "/records/changes?\(own)&zone=Recipes&from=beginning"),
        ("snapshot", place + "/records/snapshot?\(own)&zone=Recipes&order=newest"),
        ("record", place + "/record?\(own)&zone=Recipes&name=note-7"),
        ("edit", place + "/edit?\(own)&zone=Recipes&name=note-7"),
        ("folder", place + "/record?\(own)&zone=Recipes&name=folder-1"), ("zones", place + "/zones?\(own)"),
        ("schema", place + "/schema"), ("subscriptions", place + "/subscriptions?\(own)"),
        ("users", place + "/users"), ("usage", place + "/usage"),
        ("production", "/c/\(ConsoleScene.container)/production"), ("missing", place + "/nothing"),
    ]

    @Test
    func `every page fits, reads well in both themes, and breaks no rule of accessibility`() async throws {
        let scene = try await self.scene()
        try await self.browsing(scene) { browser, client, link in
            try await browser.go("http://\(client.host)\(link)")
            try await browser.wait(
                for: "location.pathname === '/' && document.title.startsWith('Containers')"
            )
            try await browser.inspect(Self.pages, of: "http://\(client.host)")
        }
        await scene.shutdown()
    }

    @Test
    func `keys lead through pages, and changes appear by themselves`() async throws {
        let scene = try await self.scene()
        try await self.browsing(scene) { browser, client, link in
            try await browser.go("http://\(client.host)\(link)")
            try await browser.wait(for: "document.title.startsWith('Containers')")
            // To the records of a type by keys alone.
            try await browser.go("http://\(client.host)\(Self.place)/records?\(Self.own)&type=Note")
            try await browser.type("/")
            #expect(try await browser.evaluate("document.activeElement.name") == "\"type\"")
            try await browser.evaluateWithoutFocus()
            try await browser.type("jj")
            #expect(try await browser.evaluate("document.activeElement.textContent") == "\"note-1\"")
            try await browser.type("k\u{E007}")
            try await browser.wait(for: "document.querySelector('h1').textContent === 'note-0'")
            try await browser.type("?")
            #expect(try await browser.evaluate("document.getElementById('help').open") == "true")
            try await browser.type("\u{E00C}")
            #expect(try await browser.evaluate("document.getElementById('help').open") == "false")
            // A change by hand: text, review, and the record again.
            try await browser.type("e")
            try await browser.wait(for: "document.querySelector('h1').textContent === 'Edit note-0'")
            _ = try await browser.evaluate(
                """
                document.querySelector('textarea[name=text]').value =
                    document.querySelector('textarea[name=text]').value.replace('Onion soup', 'Leek soup');
                document.querySelector('main form button').click()
                """
            )
            try await browser.wait(for: "document.querySelector('h1').textContent === 'Review the changes'")
            #expect(try await browser.evaluate("document.querySelectorAll('tbody tr').length") == "1")
            _ = try await browser.evaluate("document.querySelector('main form button').click()")
            try await browser.wait(for: "document.querySelector('h1').textContent === 'note-0'")
            #expect(try await browser.evaluate("document.body.innerText.includes('Leek soup')") == "true")
            // A reference leads to its record, and back.
            _ = try await browser.evaluate(
                "document.querySelector('#fields ~ * a[href*=\"name=folder-1\"]').click()"
            )
            try await browser.wait(for: "document.querySelector('h1').textContent === 'folder-1'")
            #expect(try await browser.evaluate("document.body.innerText.includes('its parent')") == "true")
            // Changes as they come.
            try await browser.go(
                "http://\(client.host)\(Self.place)/records/changes?\(Self.own)&zone=Travel&from=now"
            )
            try await browser.wait(for: "document.body.innerText.includes('Waiting for changes.')")
            try await scene.save([("<i>trip</i>", [])], zone: "Travel")
            try await browser.wait(for: "document.querySelector('#live tr.new')")
            #expect(
                try await browser.evaluate("document.querySelector('#live tr.new a').textContent")
                    == "\"<i>trip</i>\""
            )
            _ = try await browser.evaluate("document.querySelector('#live tr.new a').click()")
            try await browser.wait(for: "document.querySelector('h1').textContent === '<i>trip</i>'")
        }
        await scene.shutdown()
    }

    @Test
    func `the policy lets no script of a record run, and none of another page change anything`() async throws
    {
        let scene = try await self.scene()
        try await self.browsing(scene) { browser, client, link in
            try await browser.go("http://\(client.host)\(link)")
            try await browser.wait(for: "document.title.startsWith('Containers')")
            // The policy holds a page of ours back if somebody's text became markup after all.
            let blocked = try await browser.evaluate(
                """
                new Promise(done => {
                    const faults = [];
                    document.addEventListener("securitypolicyviolation", fault => {
                        faults.push(fault.effectiveDirective);
                        if (faults.length === 2) done(faults.sort().join(" "));
                    });
                    const image = document.createElement("img");
                    image.src = "http://localhost:1/x.png";
                    document.body.append(image);
                    const style = document.createElement("style");
                    style.textContent = "body { display: none }";
                    document.head.append(style);
                })
                """
            )
            #expect(blocked == "\"img-src style-src-elem\"")
            #expect(
                try await browser.evaluate(
                    "try { document.body.innerHTML = '<b>x</b>'; 'set' } catch (error) { error.name }"
                ) == "\"TypeError\""
            )
            // The same machine by another name is another site, which gets neither page nor cookie.
            let port = client.host.split(separator: ":")[1]
            try await browser.go("http://localhost:\(port)/")
            #expect(
                try await browser.evaluate("document.querySelector('h1').textContent")
                    == "\"Another address\""
            )
            let status = try await browser.evaluate(
                """
                fetch("http://127.0.0.1:\(port)/leave", { method: "POST", mode: "no-cors", credentials: "include" })
                    .then(answer => answer.type, error => error.name)
                """
            )
            #expect(status == "\"TypeError\"")
            try await browser.go("http://\(client.host)/")
            #expect(try await browser.evaluate("document.title.startsWith('Containers')") == "true")
        }
        await scene.shutdown()
    }
}

extension Browser {
    /// Takes the focus from a field, in which keys are letters.
    fileprivate func evaluateWithoutFocus() async throws {
        _ = try await self.evaluate("document.activeElement.blur()")
    }
}
