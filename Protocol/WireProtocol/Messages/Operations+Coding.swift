import struct Foundation.Data
import RecordModel

extension ModifyRecords {
    init(_ message: PBModifyRecords) throws(WireError) {
        guard let policy = UInt8(exactly: message.policy.rawValue).flatMap(Policy.init(rawValue:)) else {
            throw WireError(.refused(.invalidArguments), field: "policy")
        }
        self.init(
            scope: try DatabaseScope(message.scope),
            saves: message.saves.map { RecordSave($0) },
            deletes: message.deletes.map { RecordID($0) },
            policy: policy,
            isAtomic: message.atomic
        )
    }

    var generated: PBModifyRecords {
        var message = PBModifyRecords()
        message.scope = self.scope.generated
        message.saves = self.saves.map(\.generated)
        message.deletes = self.deletes.map(\.generated)
        message.policy = PBSavePolicy(rawValue: Int(self.policy.rawValue)) ?? .ifServerRecordUnchanged
        message.atomic = self.isAtomic
        return message
    }
}

extension RecordSave {
    init(_ message: PBRecordSave) {
        var changes = RecordBody.empty
        var changesError: BodyError?
        do throws(BodyError) {
            changes = try RecordBody(checking: [UInt8](message.fields), allowsClear: true)
        } catch {
            changesError = error
        }
        let parent: ParentChange =
            if !message.hasParent {
                .unchanged
            } else if message.parent.isEmpty {
                .removed
            } else {
                .set(recordName: message.parent)
            }
        self.init(
            id: RecordID(message.id),
            recordType: message.recordType,
            changeTag: message.changeTag.isEmpty ? nil : message.changeTag,
            changes: changes,
            changesError: changesError,
            parent: parent
        )
    }

    var generated: PBRecordSave {
        var message = PBRecordSave()
        message.id = self.id.generated
        message.recordType = self.recordType
        message.changeTag = self.changeTag ?? ""
        message.fields = Data(self.changes.bytes)
        switch self.parent {
        case .unchanged: break
        case .removed: message.parent = ""
        case .set(let recordName): message.parent = recordName
        }
        return message
    }
}

extension FetchRecords {
    init(_ message: PBFetchRecords) throws(WireError) {
        self.init(
            scope: try DatabaseScope(message.scope),
            ids: message.ids.map { RecordID($0) },
            desiredKeys: message.hasDesiredKeys ? message.desiredKeys.keys : nil
        )
    }

    var generated: PBFetchRecords {
        var message = PBFetchRecords()
        message.scope = self.scope.generated
        message.ids = self.ids.map(\.generated)
        if let desiredKeys { message.desiredKeys.keys = desiredKeys }
        return message
    }
}

extension ModifyZones {
    init(_ message: PBModifyZones) throws(WireError) {
        self.init(
            scope: try DatabaseScope(message.scope),
            saves: message.saves.map { ZoneID($0) },
            deletes: message.deletes.map { ZoneID($0) }
        )
    }

    var generated: PBModifyZones {
        var message = PBModifyZones()
        message.scope = self.scope.generated
        message.saves = self.saves.map(\.generated)
        message.deletes = self.deletes.map(\.generated)
        return message
    }
}

extension FetchZones {
    init(_ message: PBFetchZones) throws(WireError) {
        guard !message.all || message.ids.isEmpty else {
            throw WireError(.refused(.invalidArguments), field: "ids")
        }
        self.init(
            scope: try DatabaseScope(message.scope),
            selection: message.all ? .all : .ids(message.ids.map { ZoneID($0) })
        )
    }

    var generated: PBFetchZones {
        var message = PBFetchZones()
        message.scope = self.scope.generated
        switch self.selection {
        case .all: message.all = true
        case .ids(let ids): message.ids = ids.map(\.generated)
        }
        return message
    }
}
