import CLibPQ
import Foundation

/// The address of a database, and the user to connect as: a URL or a list of keywords, as every program of
/// PostgreSQL takes it.
package struct ConnectionTarget: Hashable, Sendable {
    /// By keyword.
    private var settings: [String: String]

    /// Settings that are added unless the URL has others.
    ///
    /// A dead network is noticed within some fifteen seconds: no answer is waited for without end.
    private static let defaults = [
        "connect_timeout": "10", "keepalives_idle": "5", "keepalives_interval": "3", "keepalives_count": "3",
        "tcp_user_timeout": "15000", "client_encoding": "UTF8", "fallback_application_name": "tidemark",
    ]

    /// - Throws: `misused` with what is wrong with the URL.
    package init(_ url: String) throws(PostgreSQLError) {
        if let fault = Self.fault(of: url) { throw PostgreSQLError(.misused, fault) }
        // SAFETY: libpq's list ends with an option without a keyword; it and the message are freed below.
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &message) else {
            defer { PQfreemem(message) }
            let text = message.map { String(cString: $0).firstLine } ?? "no memory"
            throw PostgreSQLError(.misused, Self.withoutQuotations(text, of: url))
        }
        defer { PQconninfoFree(options) }
        self.settings = Self.defaults
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                self.settings[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        // libpq would name it in an error: of USER:PASSWORD without a host it is the password.
        guard self.settings["port"]?.allSatisfy({ $0.isWholeNumber || $0 == "," }) ?? true else {
            throw PostgreSQLError(.misused, "the port behind the host is not a number")
        }
        // Of several servers one is the primary.
        if self.settings["host"]?.contains(",") == true, self.settings["target_session_attrs"] == nil {
            self.settings["target_session_attrs"] = "read-write"
        }
        // libpq by itself takes what the server offers, also plain text. A URL has to say that this will do.
        if self.isElsewhere, self.tlsMode == nil { self.settings["sslmode"] = "require" }
    }

    /// What libpq would take for something else, and print.
    private static func fault(of url: String) -> String? {
        let schemes = ["postgresql://", "postgres://"]
        guard let scheme = schemes.first(where: { url.hasPrefix($0) }) else {
            let isList = url.first { $0 == "=" || $0 == ":" || $0 == "@" } == "="
            return isList || !url.contains(where: { $0 == ":" || $0 == "@" })
                ? nil : "it does not begin with postgresql://"
        }
        var rest = url.dropFirst(scheme.count)
        if let end = rest.firstIndex(where: { $0 == "@" || $0 == "/" }), rest[end] == "@" {
            rest = rest[rest.index(after: end)...]
        }
        guard rest.prefix(while: { $0 != "?" }).contains("@") else { return nil }
        return "an '@' or '/' in the user's name or the password has to be written as %40 or %2F"
    }

    /// The text up to what it quotes of the URL, which may be a password; names of parameters stay.
    private static func withoutQuotations(_ text: String, of url: String) -> String {
        var shown = ""
        for (offset, part) in text.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            guard !offset.isMultiple(of: 2) else {
                shown += part
                continue
            }
            guard part == "=" || url.contains("?\(part)=") || url.contains("&\(part)=") else {
                return shown + "…"
            }
            shown += "\"\(part)\""
        }
        return shown
    }

    /// The same target in another database of the server.
    package func database(named name: String) -> ConnectionTarget {
        var copy = self
        copy.settings["dbname"] = name
        return copy
    }

    /// The name of the database; `nil` if it is the user's.
    package var databaseName: String? { self.settings["dbname"] }

    /// Server and database, without a password: for messages.
    package var text: String {
        let host = self.settings["host"] ?? self.settings["hostaddr"] ?? "the local socket"
        let port = self.settings["port"].map { ":\($0)" } ?? ""
        return "\(self.databaseName ?? "the user's database") on \(host)\(port)"
    }

    /// Whether a server on another machine is not asked to prove which one it is.
    package var isUnverified: Bool { self.isElsewhere && self.tlsMode != "verify-full" }

    /// The demand on TLS, in libpq's words; `nil` if neither the settings nor the environment has one.
    private var tlsMode: String? {
        self.settings["sslmode"] ?? ProcessInfo.processInfo.environment["PGSSLMODE"]
    }

    /// Whether a host is another machine.
    private var isElsewhere: Bool {
        let hosts = (self.settings["host"] ?? self.settings["hostaddr"] ?? "").split(separator: ",")
        // A host that begins with a slash is the folder of a socket.
        return hosts.contains { host in
            !host.hasPrefix("/") && !["localhost", "127.0.0.1", "::1"].contains(host)
        }
    }

    /// Keywords and values in one order, for libpq.
    var pairs: [(keyword: String, value: String)] {
        self.settings.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension String {
    /// The first line: libpq puts questions and hints below it.
    var firstLine: String { String(self.prefix { !$0.isNewline }) }
}
