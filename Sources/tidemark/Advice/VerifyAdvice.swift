import RecordStore

/// The meaning of each finding of a verification, and the command that puts it right.
extension StoreFinding.Kind {
    /// A sentence without its end.
    var meaning: String {
        switch self {
        case .rowsUnreadable: "rows cannot be read, so what they are about was not checked to its end"
        case .recordUnreadable: "the fields or columns of a record cannot be read: it can only be deleted"
        case .changeMissing: "a record is not in the order of changes: feeds pass over it"
        case .recordAndTombstone: "a record that is there is also noted as deleted: feeds tell both"
        case .tombstonePosition: "a deletion has a position that was never given: feeds pass over it"
        case .indexEntryMissing: "an index lacks a record: queries do not find it"
        case .indexEntryStray: "an index has an entry that no record has: queries and counts may be wrong"
        case .referenceMissing: "a reference is not noted: its target can be deleted in spite of it"
        case .referenceStray: "a reference is noted that no record has: its target cannot be deleted"
        case .referenceTargetMissing: "a record refers to one that is not there"
        case .zoneCounters: "the counters of a zone are wrong: totals of feeds are too"
        case .zonePosition: "the last change of a zone is wrong: clients may not learn of changes"
        case .databaseCounters: "the counters of a database are wrong: quotas and usage are too"
        case .databasePosition: "a database would give positions again that it has given: tags would repeat"
        case .shareRecordMissing: "a share has no record"
        case .shareRootMissing: "the root of a share is not there"
        case .shareMembership:
            "a record belongs to another share than its parent: readers see too much, or too little"
        case .mirrorMissing: "a user who joined a share does not see its zone"
        case .mirrorStray: "a user sees a zone in which they joined no share; its records stay hidden"
        case .historyGap: "a change is not in the history: an undo passes over it"
        case .historyUnreadable: "a change in the history cannot be read: it cannot be undone"
        case .assetMissing: "a record names a file that the database does not have"
        case .assetUseMissing: "it is not noted that a record names a file, which may be removed"
        case .assetUseStray: "it is noted that a record names a file, and it does not"
        case .assetGrace: "the time after which a file is removed runs when it should not, or does not run"
        case .assetFile: "a file is missing, or has other bytes than were uploaded"
        }
    }

    /// A sentence that names a command.
    var remedy: String {
        switch self {
        case .indexEntryMissing, .indexEntryStray: "Build the index anew: tidemark verify --repair"
        case .zoneCounters, .databaseCounters: "Count again: tidemark verify --repair"
        case .zonePosition, .databasePosition: "Take the right position: tidemark verify --repair"
        case .mirrorMissing, .mirrorStray: "Bring the user's view up to date: tidemark verify --repair"
        case .assetGrace: "Note it again: tidemark verify --repair"
        case .rowsUnreadable: "Check the disk, and restore a backup: tidemark restore --help"
        case .recordUnreadable:
            "Put it back from its history with tidemark zone undo, or from a backup; or remove it: tidemark records delete"
        case .changeMissing: "Save the record again: tidemark records get, then tidemark records save"
        case .assetUseMissing, .assetMissing, .assetFile:
            "Restore the file from a backup, or save the record without it: tidemark records save"
        case .recordAndTombstone, .tombstonePosition, .referenceMissing, .referenceStray,
            .referenceTargetMissing, .shareRecordMissing, .shareRootMissing, .shareMembership, .assetUseStray:
            "Write the zone anew: tidemark zone export, then tidemark zone import; or restore a backup"
        case .historyGap, .historyUnreadable:
            "Begin the history anew: tidemark container history with --days 0, then with the days"
        }
    }
}

extension StoreFinding {
    /// The place and the detail, in one line.
    var text: String {
        "\(self.kind.rawValue): \(self.placeText)\(self.detail.isEmpty ? "" : " (\(self.detail))")"
    }

    /// From the container to the record, as far as known.
    var placeText: String {
        var words: [String] = []
        if let container = self.place.container { words.append(container) }
        if let environment = self.place.environment { words.append("\(EnvironmentName(environment))") }
        if let scope = self.place.scope { words.append("\(DatabaseName(scope))") }
        if let owner = self.place.owner { words.append("of \(owner)") }
        if let zone = self.place.zone { words.append("zone \(zone)") }
        if let record = self.place.record { words.append("record \(record)") }
        return words.isEmpty ? "the store" : words.joined(separator: " ")
    }
}
