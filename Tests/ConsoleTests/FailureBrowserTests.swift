import Foundation
import TestSupport
import Testing

@testable import Console
@testable import RecordStore

/// Pages that say why there is no other, and answers to forms without an address, in Debian's Chromium.
@Suite(
    .enabled(
        if: hasBrowser || isBrowserWanted,
        "no Chromium is installed: apt-get install chromium chromium-driver"
    ),
    .serialized,
    .timeLimit(.minutes(10))
)
struct FailureBrowserTests {
    private static let place = ConsoleScene.place
    private static let own = "database=private&user=alice"

    private static let pages: [(name: String, path: String)] = [
        ("failure-not-understood", place + "/record?\(own)"),
        ("failure-no-record", place + "/record?\(own)&name=none"),
        ("failure-no-figures", "/telemetry"),
        ("failure-no-log", "/logs"),
    ]

    /// A form that a page of the console could have, and the title of the page that answers it.
    private struct Answer {
        let name: String
        let title: String
        let action: String
        var values: [String: String] = [:]
    }

    private static let answers = [
        Answer(
            name: "failure-refused",
            title: "Refused",
            action: place + "/users/add-user",
            values: ["secret": "of another page"]
        ),
        Answer(
            name: "failure-not-confirmed",
            title: "Not confirmed",
            action: place + "/users/delete",
            values: ["name": "alice", "confirm": "alicia"]
        ),
        Answer(
            name: "failure-not-changed",
            title: "Not changed",
            action: place + "/users/add-user",
            values: ["name": "alice"]
        ),
        Answer(
            name: "failure-perhaps-changed",
            title: "Perhaps changed",
            action: place + "/users/add-user",
            values: ["name": "bob"]
        ),
        Answer(
            name: "failure-not-imported",
            title: "Not imported",
            action: place + "/records/import?" + own,
            values: ["records": "{}"]
        ),
        Answer(name: "link", title: "A link for another browser", action: "/link"),
        // The last one: it ends the session.
        Answer(name: "goodbye", title: "Goodbye", action: "/leave"),
    ]

    @Test
    func `every failure fits, reads well in both themes, and breaks no rule of accessibility`()
        async throws
    {
        let scene = try ConsoleScene.withAlice()
        let log = scene.folder.path + "/none.log"
        scene.adjust { configuration in
            configuration.log = { .file(log) }
            configuration.telemetry = { _ in .unreadable("The figures were written by a later version.") }
            configuration.importRecords = { _ in
                .failed("The server cannot be reached at 127.0.0.1:7430. Start it, and import again.")
            }
            configuration.change = { change in
                if case .addUser("alice") = change.action { return .refused("the container has alice") }
                return .unknown("The change failed: a full disk. Load the page to see what was done.")
            }
        }
        try await scene.running { client, link in
            let base = "http://\(client.host)"
            try await Browser.browsing(base + link) { browser in
                try await browser.inspect(Self.pages, of: base)
                for answer in Self.answers {
                    try await browser.go(base + "/")
                    try await browser.submit(answer.values, to: answer.action)
                    try await browser.waitForTitle(answer.title)
                    try await browser.inspectPresent(answer.name)
                }
                // The session has ended.
                try await browser.inspect([("failure-no-session", "/")], of: base)
                try await browser.waitForTitle("No session")
            }
        }
        await scene.shutdown()
    }

    @Test
    func `what production and the data folder forbid has a page, too`() async throws {
        let scene = try ConsoleScene.withAlice()
        let schemas = scene.store.schemas
        let text = "DEFINE SCHEMA RECORD TYPE Kept (title STRING);"
        let document = try SchemaParser.parse(text)
        try schemas.apply(.replaceDevelopment(document), inContainer: ConsoleScene.container)
        try schemas.apply(.deploy, inContainer: ConsoleScene.container)
        // No file can be made where a folder is missing, whoever asks.
        let audit = scene.folder.path + "/missing/console.log"
        scene.adjust { configuration in
            configuration.change = { _ in .done }
            configuration.audit = ConsoleAudit(path: audit, person: "ops", now: { 0 }, echo: { _ in })
        }
        let answers = [
            Answer(
                name: "failure-not-possible",
                title: "Not possible",
                action: Self.place + "/schema/review",
                values: ["schema": "DEFINE SCHEMA"]
            ),
            Answer(
                name: "failure-no-audit",
                title: "Not changed",
                action: Self.place + "/users/add-user",
                values: ["name": "carol"]
            ),
        ]
        try await scene.running { client, link in
            let base = "http://\(client.host)"
            try await Browser.browsing(base + link) { browser in
                for answer in answers {
                    try await browser.go(base + "/")
                    try await browser.submit(answer.values, to: answer.action)
                    try await browser.waitForTitle(answer.title)
                    try await browser.inspectPresent(answer.name)
                }
            }
        }
        await scene.shutdown()
    }

    @Test
    func `records that cannot be kept for an import have a page, too`() async throws {
        let it = try await ServedConsole.start(environment: ["TMPDIR": "/none"])
        try await Browser.browsing(it.newLink()) { browser in
            try await browser.submit(
                ["records": "{}"],
                to: ServedConsole.development + "/records/import?" + Self.own
            )
            try await browser.waitForTitle("Not taken")
            try await browser.inspectPresent("failure-not-taken")
        }
        await it.end()
    }

    /// The page has no style, which would be refused like everything else under that name.
    @Test
    func `the answer under another name breaks no rule of accessibility either`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.running { client, link in
            try await Browser.browsing("http://\(client.host)\(link)") { browser in
                try await browser.go("http://other.localhost:\(client.host.split(separator: ":")[1])/")
                try await browser.waitForTitle("Another address")
                let violations = try await Axe.violations(Axe.script(), in: browser)
                #expect(violations == [])
                try await browser.picture("failure-another-address")
            }
        }
        await scene.shutdown()
    }
}

/// The list of pages that have pictures.
@Suite
struct PicturedPagesTests {
    @Test
    func `every path of a page is among those that are shown to the browser`() {
        let pages = BrowserTests.pages + BrowserChangeTests.pages + OperationBrowserTests.pages
        let shown = pages.map { page in
            page.path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
        }
        for route in ConsoleRoutes.pages + ChangeRoutes.pages {
            let parts = route.path.split(separator: "/")
            let isShown = shown.contains { path in
                path.count == parts.count
                    && zip(parts, path).allSatisfy { $0.hasPrefix(":") ? !$1.isEmpty : $0 == $1 }
            }
            #expect(isShown, "\(route.path) needs a line in the list of pages of a browser test")
        }
        #expect(Set(pages.map(\.name)).count == pages.count, "two pages have the same picture")
    }
}

extension Browser {
    /// Sends a form with the secret of the session, from a page that has a session.
    func submit(_ values: [String: String], to action: String) async throws {
        let data = try JSONEncoder().encode(values)
        _ = try await self.evaluate(
            """
            (() => {
                const form = document.querySelector("form.leave");
                form.action = "\(action)";
                for (const [name, value] of Object.entries(\(String(decoding: data, as: UTF8.self)))) {
                    const field = form.elements[name] ?? document.createElement("input");
                    field.type = "hidden";
                    field.name = name;
                    field.value = value;
                    form.append(field);
                }
                form.submit();
            })()
            """
        )
    }
}
