import Foundation
import RecordModel
import TestSupport
import Testing

@testable import Console

/// An edit in Debian's Chromium that somebody else's save comes between.
@Suite(
    .enabled(
        if: hasBrowser || isBrowserWanted,
        "no Chromium is installed: apt-get install chromium chromium-driver"
    ),
    .timeLimit(.minutes(10))
)
struct EditBrowserTests {
    private static let title = "document.querySelector('h1').textContent"

    private static func save(_ title: String, in scene: ConsoleScene) async throws {
        let fields = [
            Field(name: "count", value: .int64(1)),
            Field(name: "title", value: .string(title)),
        ]
        try await scene.save([("note", fields)])
    }

    @Test
    func `a conflict shows what was read, theirs and yours, and a merge of both is saved`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await Self.save("Onion soup", in: scene)
        let record = ConsoleScene.place + "/record?database=private&user=alice&name=note"
        try await scene.running { client, link in
            try await Browser.browsing("http://\(client.host)\(link)") { browser in
                try await browser.go("http://\(client.host)\(record)")
                try await browser.type("e")
                try await browser.wait(for: "\(Self.title) === 'Edit note'")
                _ = try await browser.evaluate(
                    """
                    document.querySelector('textarea[name=text]').value =
                        document.querySelector('textarea[name=text]').value.replace('"value":1', '"value":2')
                    """
                )
                try await browser.click("main form button")
                try await browser.wait(for: "\(Self.title) === 'Review the changes'")
                try await browser.inspectPresent("edit-review")
                try await Self.save("Leek soup", in: scene)
                try await browser.click("main form button")
                try await browser.wait(for: "\(Self.title) === 'A conflict'")
                let table = try await browser.evaluate(
                    "[...document.querySelectorAll('tr')].map(row => row.innerText.split(/\\s*\\t\\s*/).join('|')).join(' / ')"
                )
                #expect(
                    table == """
                        "Field|When you read it|Theirs now|Yours / count|1|1|2 / title|Onion soup|Leek soup|Onion soup"
                        """
                )
                try await browser.inspectPresent("edit-conflict")
                try await browser.click("main form button")
                try await browser.wait(for: "\(Self.title) === 'Review the changes'")
                try await browser.click("main form button")
                try await browser.wait(for: "\(Self.title) === 'note'")
                let fields = try await browser.evaluate(
                    "document.querySelector('#fields').parentElement.innerText"
                )
                #expect(fields.contains("Leek soup") && fields.contains("\\t2"))
            }
        }
        await scene.shutdown()
    }
}
