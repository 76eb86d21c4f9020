import Foundation
import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import Console

/// Flows in Debian's Chromium that explain deliveries and change things.
@Suite(
    .enabled(
        if: hasBrowser || isBrowserWanted,
        "no Chromium is installed: apt-get install chromium chromium-driver"
    ),
    .serialized,
    .timeLimit(.minutes(10))
)
struct BrowserChangeTests {
    private static let container = ServedConsole.container
    private static let development = ServedConsole.development
    private static let production = ServedConsole.production

    /// A served console with contents that somebody chose to harm whoever looks at them.
    private static func served() async throws -> (ServedConsole, link: String) {
        let it = try await ServedConsole.start()
        try await it.importRecords(
            """
            {"recordName":"<i>a</i>","recordType":"Note","zoneID":{"zoneName":"<script>alert(1)</script>"},"fields":{"title":{"value":"x"},"count":{"value":1}}}
            {"recordName":"b","recordType":"Note","fields":{"title":{"value":"y"}}}
            {"recordName":"c","recordType":"Note","zoneID":{"zoneName":"shelf"},"fields":{"title":{"value":"z"}}}
            """
        )
        return (it, try await it.newLink())
    }

    // MARK: Pages

    static let pages: [(name: String, path: String)] = {
        let own = ServedConsole.own
        let zone = "zone=%3Cscript%3Ealert(1)%3C%2Fscript%3E"
        return [
            ("schema-edit", development + "/schema/edit"), ("schema-deploy", production + "/schema/deploy"),
            ("schema-reset", development + "/schema/reset"), ("audit", development + "/audit"),
            ("user", development + "/users/user?name=alice"),
            ("service", development + "/users/user?name=shop"), ("user-add", production + "/users/add"),
            ("user-delete", development + "/users/delete?name=alice"),
            ("zone-delete", development + "/zones/delete?\(own)&\(zone)"),
            ("import", development + "/records/import?\(own)"),
            ("trial", development + "/subscriptions/trial?\(own)&kind=database"),
            ("trial-form", development + "/subscriptions/trial?\(own)"),
            ("explained", development + "/record?\(own)&\(zone)&name=%3Ci%3Ea%3C%2Fi%3E"),
            ("listeners", development + "/subscriptions?\(own)"),
            ("zones-own", development + "/zones?\(own)"),
            ("share", development + "/share?\(own)&zone=shelf&name=cloudkit.zoneshare"),
            ("share-begin", development + "/share/begin?\(own)&\(zone)&name=%3Ci%3Ea%3C%2Fi%3E"),
            (
                "share-remove",
                development + "/share/remove?\(own)&zone=shelf&name=cloudkit.zoneshare&participant="
            ),
            ("share-end", development + "/share/end?\(own)&zone=shelf&name=cloudkit.zoneshare"),
            ("snapshot-files", development + "/records/snapshot?\(own)&\(zone)&order=newest"),
        ]
    }()

    @Test
    func `every page of changes fits, reads well in both themes, and breaks no rule of accessibility`()
        async throws
    {
        let (it, link) = try await Self.served()
        try await it.server.administer(["key", "add", "shop", "--container", Self.container])
        try await Browser.browsing(link) { browser in
            // Something to read in the record of changes.
            let add = try await it.client.get(Self.development + "/users/add").body
            _ = try await it.submit("/users/add-user", of: add, [("name", "bob")])
            _ = try await it.submit("/users/add-user", of: add, [("name", "bob")])
            let participant = try await Self.share(it)
            let pages = Self.pages.map { page in
                (name: page.name, path: page.path.hasSuffix("=") ? page.path + participant : page.path)
            }
            try await browser.inspect(pages, of: it.address)
            try await browser.go(it.address + Self.development + "/users/add")
            _ = try await browser.evaluate("document.querySelector('input[name=name]').value = 'dave'")
            try await browser.click("main form button")
            try await browser.wait(for: "location.pathname.endsWith('/users/add-user')")
            try await browser.inspectPresent("user-token")
            try await browser.go(it.address + Self.development + "/users/add")
            let service = "form[action$='/users/add-key']"
            _ = try await browser.evaluate(
                "document.querySelector(\"\(service) input[name=name]\").value = 'press'"
            )
            try await browser.click("\(service) button")
            try await browser.wait(for: "location.pathname.endsWith('/users/add-key')")
            try await browser.inspectPresent("service-key")
        }
        await it.end()
    }

    /// Shares a zone with bob and with whoever has a URL, and returns bob's ID in the share.
    ///
    /// Carol asks for access.
    private static func share(_ it: ServedConsole) async throws -> String {
        let begin = try await it.client.get(
            self.development + "/share/begin?\(ServedConsole.own)&zone=shelf"
        ).body
        let begun = try await it.submit("/share/begin", of: begin)
        let path = try #require(begun.fields["location"])
        for who in ["bob", "<b>eve</b>@example.org", ""] {
            let page = try await it.client.get(path).body
            let values = [("who", who), ("permission", "2"), ("role", "3")]
            let invited = try await it.submit("/share/invite", of: page, values)
            #expect(invited.status == 303, "\(invited.body)")
        }
        var page = try await it.client.get(path).body
        let bob = try #require(page.firstMatch(of: /<option value="(\w+)">bob, may read</)).1
        _ = try await it.submit("/share/requests", of: page, [("taken", "yes")])
        let carol = try await it.server.administer(["user", "add", "carol", "--container", self.container])
        page = try await it.client.get(path).body
        let url = try #require(page.firstMatch(of: /\/share\/(\w{16,})</)).1
        let asking = RequestShareAccess(tokens: [String(url)])
        #expect(try await it.perform(.requestShareAccess(asking), token: carol))
        return String(bob)
    }

    // MARK: Flows

    @Test
    func `a schema is mended where its error is, saved, and deployed to production`() async throws {
        let (it, link) = try await Self.served()
        try await Browser.browsing(link) { browser in
            try await browser.go(it.address + Self.development + "/schema")
            try await browser.click("a[href$='/schema/edit']")
            try await browser.waitForTitle("Edit the schema of development")
            _ = try await browser.evaluate(
                """
                document.querySelector("textarea").value =
                    document.querySelector("textarea").value.replace(/title +STRING/, "title STRIN")
                """
            )
            try await browser.click("main form button")
            try await browser.wait(for: "document.querySelector('.fault')")
            let mistake = "STRIN QUERYABLE"
            #expect(try await browser.evaluate("document.activeElement.tagName") == "\"TEXTAREA\"")
            #expect(
                try await browser.evaluate(
                    "document.activeElement.value.slice(document.activeElement.selectionStart).startsWith('\(mistake)')"
                ) == "true",
                "the cursor is at the error"
            )
            try await browser.inspectPresent("schema-fault")
            _ = try await browser.evaluate(
                """
                document.querySelector("textarea").value = document.querySelector("textarea").value
                    .replace("title STRIN ", "title STRING ").replace(/count +INT64/, "extra INT64 QUERYABLE, count INT64")
                """
            )
            try await browser.click("main form button")
            try await browser.waitForTitle("Review the changes")
            try await browser.inspectPresent("schema-review")
            #expect(
                try await browser.evaluate("document.body.innerText.includes('extra INT64 QUERYABLE')")
                    == "true"
            )
            try await browser.click("main form button")
            try await browser.waitForTitle("Schema")
            try await browser.click("a[href$='/schema/deploy']")
            try await browser.waitForTitle("Deploy to production")
            #expect(
                try await browser.evaluate("document.documentElement.dataset.environment") == "\"production\""
            )
            _ = try await browser.evaluate(
                "document.querySelector('input[name=confirm]').value = '\(Self.container)'"
            )
            try await browser.click("main form button")
            try await browser.waitForTitle("Schema")
            #expect(
                try await browser.evaluate(
                    "document.body.innerText.includes('Production has the same schema')"
                )
                    == "true"
            )
            try await browser.go(it.address + Self.production + "/audit")
            #expect(
                try await browser.evaluate("document.querySelectorAll('.state.good').length") == "2"
            )
        }
        let text = try await it.server.administer([
            "schema", "export", "--container", Self.container, "--environment", "production",
        ])
        #expect(text.contains(/extra +INT64 QUERYABLE/))
        await it.end()
    }

    @Test
    func `a file is sent, tried, and imported`() async throws {
        let (it, link) = try await Self.served()
        try await Browser.browsing(link) { browser in
            try await browser.go(it.address + Self.development + "/records/import?\(ServedConsole.own)")
            _ = try await browser.evaluate(
                """
                (() => {
                    const line = number => JSON.stringify(
                        { recordName: "f" + number, recordType: "Note", fields: { title: { value: "<b>" } } });
                    const lines = Array.from({ length: 2000 }, (_, number) => line(number))
                        .concat(JSON.stringify({ recordName: "bad", recordType: "Note", fields: { title: { value: 1 } } }))
                        .join("\\n");
                    const files = new DataTransfer();
                    files.items.add(new File([lines], "notes.jsonl"));
                    const form = document.querySelector("form[data-upload]");
                    form.querySelector("input[type=file]").files = files.files;
                    const bytesMax = form.dataset.uploadBytesMax;
                    form.dataset.uploadBytesMax = files.files[0].size - 1;
                    form.requestSubmit();
                    window.refusal = form.querySelector("[data-upload-state]").textContent;
                    form.dataset.uploadBytesMax = bytesMax;
                })()
                """
            )
            #expect(try await browser.evaluate("window.refusal").contains("too large for a page"))
            _ = try await browser.evaluate("document.querySelector('form[data-upload]').requestSubmit()")
            try await browser.waitForTitle("Dry run of the import")
            let foretold = try await browser.evaluate("document.querySelector('main').innerText")
            #expect(foretold.contains("2,000") && foretold.contains("1 refused record"))
            try await browser.inspectPresent("import-dry-run")
            try await browser.click("main form button")
            try await browser.waitForTitle("Imported")
            let report = try await browser.evaluate("document.querySelector('main').innerText")
            #expect(report.contains("2,000") && report.contains("1 refused record"))
            try await browser.inspectPresent("imported")
        }
        #expect(try await it.exportRecords().contains("\"f1999\""))
        await it.end()
    }

    /// Two records that their creator alone may read, with subscriptions of alice and bob to one.
    private static func secrets() async throws -> ConsoleScene {
        let scene = try ConsoleScene.withAlice()
        let text = """
            DEFINE SCHEMA
            RECORD TYPE Secret (
                "___recordID" REFERENCE QUERYABLE,
                title STRING QUERYABLE,
                GRANT CREATE TO "_icloud", GRANT READ, WRITE TO "_creator"
            );
            """
        try scene.store.schemas.apply(
            .replaceDevelopment(SchemaParser.parse(text)),
            inContainer: ConsoleScene.container
        )
        let directory = scene.store.directory
        let bob = "_00000000000000000000000000000b0b"
        try directory.addUser(
            named: "bob",
            userRecordName: bob,
            tokenHash: [UInt8](repeating: 8, count: 32),
            toContainer: ConsoleScene.container
        )
        let isX = Predicate.comparison(
            Comparison(field: "title", comparator: .equals, operand: .string("x"))
        )
        let subscription = Subscription(
            id: "exes",
            kind: .query(recordType: "Secret", predicate: isX, zone: nil, firesOn: .events)
        )
        let operation = ModifySubscriptions(scope: .public, saves: [subscription])
        for user in ["alice", "bob"] {
            try await scene.write(.modifySubscriptions(operation), by: scene.requester(.public, of: user))
        }
        for (name, title) in [("first", "x"), ("second", "y")] {
            try await scene.save(
                [(name, [Field(name: "title", value: .string(title))])],
                type: "Secret",
                scope: .public
            )
        }
        return scene
    }

    @Test
    func `the page of a record leads to why a listener did not hear of it, and to who may read it`()
        async throws
    {
        let scene = try await Self.secrets()
        try await scene.running { client, link in
            try await Browser.browsing("http://\(client.host)\(link)") { browser in
                try await browser.go("http://\(client.host)\(ConsoleScene.place)/record?name=second")
                let access = try await browser.evaluate(
                    "document.querySelector('#access').parentElement.innerText"
                )
                #expect(access.contains("_creator"))
                #expect(!access.contains("_world\\tread"))
                let matches = "document.querySelector('#subscriptions').parentElement"
                let verdicts = try await browser.evaluate("\(matches).innerText")
                #expect(verdicts.contains("The record does not meet its condition."))
                // Why alice did not hear of it, and of what she did.
                _ = try await browser.evaluate(
                    "[...\(matches).querySelectorAll('a')].find(link => link.href.includes('user=alice')).click()"
                )
                try await browser.waitForTitle("Dry run of exes")
                let lead = try await browser.evaluate("document.querySelector('main').innerText")
                #expect(lead.contains("It would have fired for 1 of 3 changes."))
                try await browser.picture("dry-run")
                // Bob may not read the records at all, as that page says.
                try await browser.go(
                    "http://\(client.host)\(ConsoleScene.place)/subscriptions/trial?database=public&user=bob&subscription=exes"
                )
                let theirs = try await browser.evaluate("document.querySelector('main').innerText")
                #expect(theirs.contains("It would have fired for 0 of 3 changes."))
                #expect(theirs.contains("Its user may not read the record."))
                _ = try await browser.evaluate(
                    "[...document.querySelectorAll('main tbody a')].find(link => link.textContent === 'first').click()"
                )
                try await browser.waitForTitle("The record cannot be read")
            }
        }
        await scene.shutdown()
    }
}

extension Browser {
    /// Opens a link, and shows it a browser that ends before the console: it keeps connections open.
    static func browsing(_ link: String, _ body: (Browser) async throws -> Void) async throws {
        try #require(hasBrowser, "TIDEMARK_CHROMIUM is set, and there is no chromium with its driver")
        let browser = try await Browser.start()
        do {
            try await browser.go(link)
            try await browser.wait(for: "document.title.startsWith('Containers')")
            try await body(browser)
            await browser.end()
        } catch {
            await browser.end()
            throw error
        }
    }

    func click(_ selector: String) async throws {
        _ = try await self.evaluate("document.querySelector(\"\(selector)\").click()")
    }

    /// Waits for a page by its first title.
    func waitForTitle(_ title: String) async throws {
        try await self.wait(for: "document.querySelector('h1').textContent === '\(title)'")
    }
}
