import Foundation
import TestSupport
import Testing

@testable import Console

/// The data of `Scripts/quickstart`, and a new user who answers by looking only.
///
/// Which provinces of Canada changed last, who may read them, and why did a listener not hear of
/// one? The test clicks what is on the pages, and types nothing but the words of the questions.
@Suite(
    .enabled(
        if: hasBrowser || isBrowserWanted,
        "no Chromium is installed: apt-get install chromium chromium-driver"
    ),
    .timeLimit(.minutes(10))
)
struct TrialTests {
    private static let container = "iCloud.org.example.iso-codes"

    /// A server with the codes of ISO 3166; a listener that has heard of Japan and ended; and two
    /// provinces that have changed since.
    private static func served() async throws -> ServedConsole {
        let server = try ServerProcess()
        try await server.administer(["container", "create", self.container])
        let token = try await server.administer([
            "user", "add", "quickstart", "--container", self.container,
        ])
        try await server.start()
        let environment = [
            "TIDEMARK_URL": "tidemark://localhost:\(server.port)", "TIDEMARK_CA": server.authorityPath,
            "TIDEMARK_TOKEN": token, "TIDEMARK_CONTAINER": self.container,
            "TIDEMARK_CACHE": server.folder.path + "/cache", "XDG_STATE_HOME": server.folder.path + "/state",
        ]
        func run(_ arguments: [String]) async throws {
            let program = ChildProcess.buildFolder.appendingPathComponent("iso-codes-service")
            let outcome = try await ChildProcess.run(program, arguments, environment: environment)
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
        }
        try await run([])
        let listener = try ChildProcess(
            ChildProcess.buildFolder.appendingPathComponent("tidemark-listen"),
            [
                "--zone", "ISO3166", "--fetch", "--from-now", "--state",
                server.folder.path + "/listener.json",
            ],
            environment: environment
        )
        while !listener.errorsSoFar.contains(": listening") || !listener.errorsSoFar.contains(": caught up") {
            try await Task.sleep(for: .milliseconds(20))
        }
        try await run(["visit", "JP"])
        _ = await listener.find { $0.contains("JP") ? true : nil }
        listener.signal(SIGTERM)
        _ = await listener.outcome()
        try await run(["visit", "CA-ON"])
        try await run(["visit", "CA-QC"])
        return try await ServedConsole.beside(server)
    }

    @Test
    func `a new user sees which provinces changed last, who may read them, and who did not hear of one`()
        async throws
    {
        let it = try await Self.served()
        try await Browser.browsing(try await it.newLink()) { browser in
            try await browser.show(on: .desk, .light)
            try await browser.clickLink("development")
            try await browser.waitForTitle(Self.container)
            try await browser.picture("new-user-container")
            // The page says whose records there are.
            try await browser.clickLink("private database of quickstart")
            try await browser.waitForTitle("Records")
            try await browser.clickLink("Subdivision")
            try await browser.wait(for: "document.querySelector('[name=sort]')")
            try await browser.choose("sort", "time of the last change")
            try await browser.choose("order", "descending, newest first")
            try await browser.choose("field", "country · REFERENCE")
            try await browser.fill("value", "CA")
            try await browser.click("main form.query button")
            try await browser.wait(for: "document.querySelectorAll('.condition').length === 2")
            try await browser.picture("new-user-subdivisions")
            let rows = "[...document.querySelectorAll('tbody tr')]"
            let names = "\(rows).slice(0, 2).map(row => row.querySelector('a').textContent).join()"
            #expect(try await browser.evaluate(names) == "\"CA-QC,CA-ON\"", "which changed last")
            #expect(try await browser.evaluate("\(rows)[0].innerText.includes('Quebec')") == "true")
            #expect(try await browser.evaluate("\(rows)[0].innerText.includes('Province')") == "true")
            try await browser.click("tbody a")
            try await browser.waitForTitle("CA-QC")
            try await browser.picture("new-user-record")
            let access = try await browser.text(ofSection: "access")
            #expect(access.contains("quickstart") && access.contains("read"), "who may read it: \(access)")
            #expect(access.contains("owns the private database"))
            let delivery = try await browser.text(ofSection: "delivery")
            #expect(
                delivery.contains("is 2 changes behind"),
                "why the listener did not hear of it: \(delivery)"
            )
            #expect(delivery.contains("It has not asked for changes since"))
            let subscriptions = try await browser.text(ofSection: "subscriptions")
            #expect(subscriptions.contains("yes"), "it would have been told: \(subscriptions)")
        }
        await it.end()
    }
}

extension Browser {
    /// Clicks the link of the page that has this text.
    fileprivate func clickLink(_ text: String) async throws {
        let links = "[...document.querySelectorAll('main a')]"
        try await self.wait(for: "\(links).some(link => link.innerText.trim() === '\(text)')")
        _ = try await self.evaluate("\(links).find(link => link.innerText.trim() === '\(text)').click()")
    }

    /// Chooses what a person reads in the first field of this name.
    fileprivate func choose(_ field: String, _ title: String) async throws {
        let found = try await self.evaluate(
            """
            (() => {
                const select = document.querySelector("main select[name=\(field)]");
                const option = [...select.options].find(option => option.text === "\(title)");
                if (option) select.value = option.value;
                return option !== undefined;
            })()
            """
        )
        #expect(found == "true", "\(field) offers no \(title)")
    }

    fileprivate func fill(_ field: String, _ text: String) async throws {
        _ = try await self.evaluate("document.querySelector('main input[name=\(field)]').value = '\(text)'")
    }

    fileprivate func text(ofSection id: String) async throws -> String {
        try await self.evaluate("document.getElementById('\(id)').parentElement.innerText")
    }
}
