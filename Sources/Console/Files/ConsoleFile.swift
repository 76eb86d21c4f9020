import SystemCrypto

/// A file of the browser's side, which is a part of the program.
struct ConsoleFile: Sendable {
    /// With a hash of the content.
    let name: String
    let contentType: String
    let bytes: [UInt8]

    static let style = ConsoleFile("console", "css", "text/css; charset=utf-8", PackageResources.console_css)
    static let script = ConsoleFile(
        "console",
        "js",
        "text/javascript; charset=utf-8",
        PackageResources.console_js
    )

    /// The styles of the pages about the server alone.
    static let operation = ConsoleFile(
        "operation",
        "css",
        "text/css; charset=utf-8",
        PackageResources.operation_css
    )
    static let plots = ConsoleFile(
        "plots",
        "js",
        "text/javascript; charset=utf-8",
        PackageResources.plots_js
    )
    static let follow = ConsoleFile(
        "follow",
        "js",
        "text/javascript; charset=utf-8",
        PackageResources.follow_js
    )

    static let icon = ConsoleFile("console", "svg", "image/svg+xml", PackageResources.console_svg)

    private static let byName = Dictionary(
        uniqueKeysWithValues: [
            Self.style, Self.script, Self.icon, Self.operation, Self.plots, Self.follow,
        ].map { ($0.name, $0) }
    )

    static func named(_ name: String) -> ConsoleFile? { self.byName[name] }

    var path: String { "/files/\(self.name)" }

    private init(_ stem: String, _ ending: String, _ contentType: String, _ bytes: [UInt8]) {
        let hash = SHA256.hash(bytes).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        self.name = "\(stem)-\(hash.joined()).\(ending)"
        self.contentType = contentType
        self.bytes = bytes
    }
}
