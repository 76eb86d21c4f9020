import RecordModel

/// The expected result of one reading of a zone.
struct ZoneComparison {
    /// A record as it was read.
    struct Found: Hashable, Sendable {
        let name: String
        /// 0 for a deleted record; `nil` for contents that were never saved.
        let version: UInt64?

        init(name: String, version: UInt64?) {
            self.name = name
            self.version = version
        }

        init(_ record: Record) {
            let contents = Contents(record.body)
            let owner = KeyTable.owner(of: record.id.recordName)
            let isOurs = contents.map { contents in
                owner?.worker == Int(contents.worker) && owner?.key == Int(contents.key)
            }
            self.init(name: record.id.recordName, version: isOurs == true ? contents?.version : nil)
        }
    }

    let zone: String
    /// Records that must be found or absent, by name.
    let expected: [String: KeyTable.Key]
    /// Records that may be found besides.
    var others: [String: KeyTable.Key] = [:]

    /// Records all differences.
    func compare(_ found: [Found], reading: String, _ violations: inout Violations) {
        var versions: [String: UInt64] = [:]
        for record in found {
            guard let key = self.expected[record.name] ?? self.others[record.name] else {
                violations.add(self.violation(.unexpected, record.name, "absent", "a record", reading))
                continue
            }
            guard let version = record.version else {
                violations.add(
                    self.violation(
                        .spoilt,
                        record.name,
                        Violation.text(key.acknowledged),
                        "other contents",
                        reading
                    )
                )
                versions[record.name] = key.acknowledged
                continue
            }
            // A write that may still take effect may do so between two pages.
            if versions[record.name] != nil, !key.isRetired {
                violations.add(self.violation(.doubled, record.name, "once", "twice", reading))
            }
            versions[record.name] = version
        }
        for (name, key) in self.expected {
            let version = versions[name] ?? 0
            guard !key.permits(version) else { continue }
            violations.add(
                Violation(
                    name,
                    zone: self.zone,
                    permitted: [key.acknowledged] + key.uncertain,
                    found: version,
                    reading: reading
                )
            )
        }
        for (name, version) in versions where self.expected[name] == nil {
            guard let key = self.others[name], !key.permits(version) else { continue }
            violations.add(
                Violation(
                    name,
                    zone: self.zone,
                    permitted: [key.acknowledged] + key.uncertain,
                    found: version,
                    reading: reading
                )
            )
        }
    }

    private func violation(
        _ kind: Violation.Kind,
        _ name: String,
        _ expected: String,
        _ found: String,
        _ reading: String
    ) -> Violation {
        Violation(
            kind: kind,
            zone: self.zone,
            recordName: name,
            expected: expected,
            found: found,
            reading: reading
        )
    }
}
