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
        // SAFETY: libpq's list ends with an option without a keyword; it and the message are freed below.
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &message) else {
            defer { PQfreemem(message) }
            throw PostgreSQLError(.misused, message.map { String(cString: $0).firstLine } ?? "no memory")
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
        // Of several servers one is the primary.
        if self.settings["host"]?.contains(",") == true, self.settings["target_session_attrs"] == nil {
            self.settings["target_session_attrs"] = "read-write"
        }
        // libpq by itself takes what the server offers, also plain text. A URL has to say that this will do.
        if self.isElsewhere, self.tlsMode == nil { self.settings["sslmode"] = "require" }
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

    /// The demand on TLS, in libpq's words; `nil` if nobody says one.
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
