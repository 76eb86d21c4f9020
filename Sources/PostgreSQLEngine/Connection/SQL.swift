/// The text of a statement, and which rows it may reach.
package struct SQL: Hashable, Sendable {
    package enum Reach: Hashable, Sendable {
        /// Rows of one database, which a parameter names.
        case database
        /// Rows of tables that belong to no database, such as users and schemas.
        case directory
        /// Rows of many databases: housekeeping, what a rule asks of the whole store, or what jobs of
        /// several databases ask together.
        case store
    }

    package let text: String
    package let reach: Reach

    package init(_ text: String, reach: Reach = .database) {
        self.text = text
        self.reach = reach
    }
}

/// Words that a statement may not use, so that the store also works on servers that only speak PostgreSQL's
/// protocol, and through several nodes.
package enum Dialect {
    /// The schema of every table.
    package static let schema = "tidemark"

    /// Tables with rows that all belong to a database.
    static let contents = ["record", "change", "tombstone", "hold", "index_entry"]

    /// Words, each with the reason.
    static let forbidden: [(word: String, reason: String)] = [
        ("listen", "lost behind poolers, and absent from CockroachDB"),
        ("notify", "takes one lock for the whole cluster at commit"),
        ("pg_notify", "takes one lock for the whole cluster at commit"),
        ("pg_advisory_lock", "a row is the lock"), ("pg_advisory_xact_lock", "a row is the lock"),
        ("pg_try_advisory_lock", "a row is the lock"), ("pg_try_advisory_xact_lock", "a row is the lock"),
        ("references", "a foreign key may cross databases"), ("foreign", "it may cross databases"),
        ("temp", "state of a session"), ("temporary", "state of a session"),
        ("trigger", "a rule outside of the rules"),
        ("nextval", "numbers that commit out of order"), ("sequence", "numbers that commit out of order"),
        ("serial", "numbers that commit out of order"), ("bigserial", "numbers that commit out of order"),
        ("identity", "numbers that commit out of order"),
        ("share", "a shared lock on a hot row"), ("xmin", "a transaction's number"),
        ("xmax", "a transaction's number"), ("ctid", "a row's address"),
        ("pg_current_snapshot", "a transaction's number"),
    ]

    /// Faults of a statement; empty if it has none.
    package static func faults(in sql: SQL) -> [String] {
        let words = self.words(of: sql.text)
        var faults = self.forbidden.filter { words.contains($0.word) }.map { "\($0.word): \($0.reason)" }
        let named = self.contents.filter { words.contains("\(self.schema).\($0)") }
        switch sql.reach {
        case .database:
            let isRestricted =
                sql.text.contains(#/"?database"? = \$\d/#) || self.isInsertion(sql.text)
                || sql.text.contains("$1::bigint AS database")
            if !isRestricted { faults.append("not restricted to a database") }
        case .directory:
            if !named.isEmpty { faults.append("reaches \(named.joined(separator: ", ")) of any database") }
        case .store: break
        }
        return faults
    }

    /// An insertion names the database of its rows as a value.
    private static func isInsertion(_ text: String) -> Bool {
        text.hasPrefix("INSERT INTO") && text.contains(#/\("?database"?,|, "?database"?[,)]/#)
    }

    /// Lower-case words; a name with a dot is one word, and quoted names have other rules.
    private static func words(of text: String) -> Set<String> {
        var words: Set<String> = []
        var word = ""
        var isQuoted = false
        for character in text.lowercased() {
            if character == "\"" { isQuoted.toggle() }
            if !isQuoted, character.isLetter || character.isNumber || character == "_" || character == "." {
                word.append(character)
            } else if !word.isEmpty {
                words.insert(word)
                word = ""
            }
        }
        words.insert(word)
        return words
    }
}
