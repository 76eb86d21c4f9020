import Testing

/// The rules whose offenders are not all gone yet: the list of the known ones only becomes shorter.
@Suite
struct RatchetTests {
    private func expectKnown(
        _ rule: String,
        _ offences: [Offence],
        groupedBy group: (String) -> String
    ) {
        let complaints = Ratchet(rule: rule).complaints(
            about: offences,
            known: KnownOffenders.rows,
            groupedBy: group
        )
        #expect(complaints.isEmpty, "\n\(complaints.joined(separator: "\n"))")
    }

    @Test
    func `comments have at most 110 columns`() throws {
        let offences = try SourceTree.files().flatMap(Rules.commentWidths)
        self.expectKnown("comment width", offences, groupedBy: Ratchet.byTarget)
    }

    @Test
    func `comments are without the phrases that nobody wants to read`() throws {
        let offences = try SourceTree.files().flatMap(Rules.commentProse)
        self.expectKnown("comment prose", offences, groupedBy: Ratchet.byTarget)
    }

    @Test
    func `comments of shipped code are without phrases to stumble over`() throws {
        let offences = try SourceTree.files().flatMap(Rules.commentStumbles)
        self.expectKnown("comment stumble", offences, groupedBy: Ratchet.byTarget)
    }

    @Test
    func `each public type of the SDK names its source`() throws {
        let offences = try SourceTree.files().flatMap(Rules.sourcesOfTypes)
        self.expectKnown("type source", offences, groupedBy: Ratchet.byTarget)
    }

    @Test
    func `each public method of the SDK explains its parameters and errors`() throws {
        let offences = try SourceTree.files().flatMap(Rules.entriesOfMethods)
        self.expectKnown("method entry", offences, groupedBy: Ratchet.byTarget)
    }

    @Test
    func `documents have at most 100 columns`() throws {
        let offences = try Document.all().flatMap(Rules.documentWidths)
        self.expectKnown("document width", offences, groupedBy: Ratchet.byFile)
    }

    @Test
    func `documents are without the phrases that nobody wants to read`() throws {
        let offences = try Document.all().flatMap(Rules.documentProse)
        self.expectKnown("document prose", offences, groupedBy: Ratchet.byFile)
    }

    @Test
    func `documents are without phrases to stumble over`() throws {
        let offences = try Document.all().flatMap(Rules.documentStumbles)
        self.expectKnown("document stumble", offences, groupedBy: Ratchet.byFile)
    }

    @Test
    func `a README has at most 3,000 words`() throws {
        let offences = try Document.all().flatMap(Rules.readmeWords)
        self.expectKnown("README words", offences, groupedBy: Ratchet.byFile)
    }

    @Test
    func `a type has at most 800 lines over all its extensions`() throws {
        let offences = Rules.typeSizes(try SourceTree.files())
        self.expectKnown("type size", offences, groupedBy: Ratchet.byTarget)
    }

    @Test
    func `no two files are the same`() throws {
        let offences = Rules.identicalFiles(try SourceTree.files())
        self.expectKnown("identical file", offences, groupedBy: Ratchet.byTarget)
    }

    @Test
    func `every import of a module of ours is used`() throws {
        let offences = Rules.unusedImports(try SourceTree.files())
        self.expectKnown("unused import", offences, groupedBy: Ratchet.byTarget)
    }

    /// A row that is doubled or of an unknown rule would allow what nobody looks at.
    @Test
    func `the list of known offenders has one row for a rule and a path`() {
        let rules: Set = [
            "comment width", "comment prose", "document width", "document prose", "README words", "type size",
            "identical file", "unused import", "comment stumble", "document stumble", "type source",
            "method entry",
        ]
        let keys = KnownOffenders.rows.map { [$0.rule, $0.path] }
        #expect(Set(keys).count == keys.count)
        #expect(rules.isSuperset(of: KnownOffenders.rows.map(\.rule)))
        #expect(KnownOffenders.rows.allSatisfy { $0.count > 0 })
    }

    private func offences(_ count: Int) -> [Offence] {
        (0..<count).map { Offence(path: "Sources/RecordStore/A.swift", line: $0 + 1, advice: "") }
    }

    @Test(arguments: [(3, 0), (2, 1), (4, 1), (0, 1)])
    func `a known number of offences passes, one more or less does not`(found: Int, complaints: Int) {
        let known = [KnownOffenders.Row("a rule", "Sources/RecordStore", 3)]
        let ratchet = Ratchet(rule: "a rule")
        #expect(
            ratchet.complaints(about: self.offences(found), known: known, groupedBy: Ratchet.byTarget).count
                == complaints
        )
        let other = Ratchet(rule: "another rule")
        #expect(
            other.complaints(about: self.offences(found), known: known, groupedBy: Ratchet.byTarget).count
                == min(found, 1)
        )
    }
}
