import Foundation
import TestSupport

/// A browser without a window, driven as W3C WebDriver and Chromium's protocol say.
///
/// The script of a test runs beside the page's policy, which forbids it to the page itself.
struct Browser: Sendable {
    struct Failure: Error {
        let text: String
    }

    enum Screen: String, CaseIterable, Sendable {
        case desk
        case phone
    }

    enum Look: String, CaseIterable, Sendable {
        case light
        case dark
        case print
    }

    static let program = "/usr/bin/chromium"
    static let driver = "/usr/bin/chromedriver"
    /// Where pictures and axe-core are, in the build's folder.
    static let folder = ChildProcess.buildFolder.appendingPathComponent("console")

    private let process: ChildProcess
    private let client: ConsoleClient
    private let session: String

    static func start() async throws -> Browser {
        let process = try ChildProcess(URL(fileURLWithPath: Self.driver), ["--port=0"])
        let port = await process.find { text in
            text.firstMatch(of: /started successfully on port (\d+)/).flatMap { Int($0.1) }
        }
        guard let port else { throw Failure(text: "chromedriver has ended") }
        var client = ConsoleClient(port: port)
        client.host = "localhost:\(port)"
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--no-first-run", "--disable-background-networking",
        ]
        let options: [String: Any] = ["args": arguments, "binary": Self.program]
        let answer = try await Self.call(
            client,
            "/session",
            ["capabilities": ["alwaysMatch": ["goog:chromeOptions": options]]]
        )
        guard let session = (answer as? [String: Any])?["sessionId"] as? String else {
            throw Failure(text: "no session: \(answer)")
        }
        return Browser(process: process, client: client, session: session)
    }

    func end() async {
        _ = try? await self.client.send("DELETE", "/session/\(self.session)", [:], body: "")
        // The driver takes no other.
        self.process.signal(SIGKILL)
        _ = await self.process.outcome()
    }

    // MARK: WebDriver

    func go(_ url: String) async throws {
        _ = try await Self.call(self.client, "/session/\(self.session)/url", ["url": url])
    }

    /// Types keys into the element that has the focus.
    func type(_ keys: String) async throws {
        let actions: [[String: Any]] = keys.unicodeScalars.flatMap { key -> [[String: Any]] in
            [["type": "keyDown", "value": String(key)], ["type": "keyUp", "value": String(key)]]
        }
        let keyboard: [String: Any] = ["type": "key", "id": "keyboard", "actions": actions]
        _ = try await Self.call(
            self.client,
            "/session/\(self.session)/actions",
            ["actions": [keyboard]]
        )
    }

    // MARK: Chromium's protocol

    /// Evaluates an expression in the page, and returns the JSON of its value.
    func evaluate(_ expression: String) async throws -> String {
        let answer = try await self.command(
            "Runtime.evaluate",
            ["expression": expression, "awaitPromise": true, "returnByValue": true]
        )
        if let exception = answer["exceptionDetails"] { throw Failure(text: "\(exception)") }
        let value = (answer["result"] as? [String: Any])?["value"] ?? NSNull()
        let data = try JSONSerialization.data(
            withJSONObject: value,
            options: [.fragmentsAllowed, .withoutEscapingSlashes]
        )
        return String(decoding: data, as: UTF8.self)
    }

    /// Waits until an expression of the page is true.
    func wait(for expression: String) async throws {
        for _ in 0..<60_000 {
            // While a page is being loaded there may be none to ask.
            if let value = try? await self.evaluate("Boolean(\(expression))"), value == "true" { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure(
            text: "the page never had \(expression): \(try await self.evaluate("document.body.innerText"))"
        )
    }

    func show(on screen: Screen, _ look: Look) async throws {
        // A sheet of A4 within its margins, whatever the screen is.
        let paper = (718, 1_010)
        let (width, height) = look == .print ? paper : screen == .desk ? (1_280, 900) : (390, 844)
        _ = try await self.command(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": screen == .phone]
        )
        _ = try await self.command(
            "Emulation.setEmulatedMedia",
            [
                "media": look == .print ? "print" : "screen",
                "features": [["name": "prefers-color-scheme", "value": look == .dark ? "dark" : "light"]],
            ]
        )
    }

    /// Takes a picture of the whole page, or of what a screen shows of it.
    ///
    /// - Returns: The path of its file in `folder`, which is made for the first one.
    @discardableResult
    func picture(_ name: String, isWhole: Bool = true) async throws -> String {
        let answer = try await self.command(
            "Page.captureScreenshot",
            ["format": "png", "captureBeyondViewport": isWhole]
        )
        guard let text = answer["data"] as? String, let data = Data(base64Encoded: text) else {
            throw Failure(text: "no picture")
        }
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        let file = Self.folder.appendingPathComponent(name + ".png")
        try data.write(to: file)
        return file.path
    }

    private func command(_ name: String, _ parameters: [String: Any]) async throws -> [String: Any] {
        let answer = try await Self.call(
            self.client,
            "/session/\(self.session)/goog/cdp/execute",
            ["cmd": name, "params": parameters]
        )
        return answer as? [String: Any] ?? [:]
    }

    /// Calls a function of the driver, and returns its value.
    private static func call(
        _ client: ConsoleClient,
        _ path: String,
        _ body: [String: Any]
    ) async throws -> Any {
        let data = try JSONSerialization.data(withJSONObject: body)
        let response = try await client.send(
            "POST",
            path,
            ["Content-Type": "application/json"],
            body: String(decoding: data, as: UTF8.self)
        )
        let object = try JSONSerialization.jsonObject(with: Data(response.bytes)) as? [String: Any]
        guard response.status == 200, let value = object?["value"] else {
            throw Failure(text: "\(path): \(response.status) \(response.body.prefix(500))")
        }
        return value
    }
}

/// The accessibility checks of axe-core, which come from a package of PyPI and stay in the build's folder.
enum Axe {
    private static let package = "axe-playwright-python==0.1.8"

    /// One for all tests, because two that fetch it at once would read half a file.
    private static let fetched = Task {
        let file = Browser.folder.appendingPathComponent("axe_playwright_python/axe.min.js")
        if !FileManager.default.fileExists(atPath: file.path) {
            let outcome = try await ChildProcess.run(
                URL(fileURLWithPath: "/usr/bin/env"),
                [
                    "python3", "-m", "pip", "install", "--no-deps", "--quiet", "--target",
                    Browser.folder.path, Self.package,
                ]
            )
            guard outcome.exitCode == 0 else { throw Browser.Failure(text: outcome.errors) }
        }
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// The script; fetched if it is not there yet.
    static func script() async throws -> String { try await self.fetched.value }

    /// Faults of the page, a line a rule.
    static func violations(_ script: String, in browser: Browser) async throws -> [String] {
        _ = try await browser.evaluate(script + "; 0")
        let text = try await browser.evaluate(
            """
            axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] })
                .then(found => found.violations.map(rule =>
                    rule.id + ": " + rule.nodes.map(node => node.html.slice(0, 200) + " " + (node.any[0]?.message ?? ""))
                        .slice(0, 3).join(" | ")))
            """
        )
        return try JSONDecoder().decode([String].self, from: Data(text.utf8))
    }
}
