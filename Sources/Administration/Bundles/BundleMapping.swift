import RecordModel
import RecordStore

/// The mapping of names when zones change their server: those of users, and of zones.
///
/// A name without a mapping stays.
package struct BundleMapping: Sendable {
    /// User record names of the bundle, with those here.
    let users: [String: String]
    /// Zone names of the bundle, with those here; other zones are left out.
    let zones: [String: String]

    package init(users: [String: String], zones: [String: String]) {
        self.users = users
        self.zones = zones
    }

    /// The record as it is to be here; `nil` if it is left out.
    func record(_ record: Record) -> Record? {
        // The record of a user is their server's.
        guard record.recordType != UserRecord.type, let zone = self.zones[record.id.zone.zoneName] else {
            return nil
        }
        var mapped = record
        mapped.id.zone = ZoneID(zoneName: zone)
        mapped.system.createdBy = self.user(record.system.createdBy)
        mapped.system.modifiedBy = self.user(record.system.modifiedBy)
        mapped.body = self.body(of: record)
        return mapped
    }

    private func user(_ name: String) -> String { self.users[name] ?? name }

    private func body(of record: Record) -> RecordBody {
        if record.recordType == ShareRecord.type, let share = record.body.share {
            return record.body.with(self.share(share))
        }
        var changed: [Field] = []
        for slice in record.body.slices where slice.type == .reference || slice.type == .referenceList {
            let value = record.body.value(of: slice)
            let mapped: FieldValue
            switch value {
            case .reference(let reference): mapped = .reference(self.reference(reference))
            case .referenceList(let references): mapped = .referenceList(references.map(self.reference))
            default: continue
            }
            guard mapped != value else { continue }
            changed.append(
                Field(name: record.body.name(of: slice), value: mapped, isEncrypted: slice.isEncrypted)
            )
        }
        return changed.isEmpty ? record.body : record.body.merging(RecordBody(changed))
    }

    private func reference(_ reference: Reference) -> Reference {
        var mapped = reference
        mapped.recordName = self.user(reference.recordName)
        // A reference never leaves its zone.
        mapped.zone = nil
        return mapped
    }

    private func share(_ share: Share) -> Share {
        var mapped = share
        for index in mapped.participants.indices {
            let id = mapped.participants[index].id
            mapped.participants[index].id = self.user(id)
            mapped.participants[index].identity = self.identity(mapped.participants[index].identity)
        }
        mapped.requesters = share.requesters.map(self.identity)
        mapped.blocked = share.blocked.map(self.identity)
        return mapped
    }

    private func identity(_ identity: UserIdentity) -> UserIdentity {
        var mapped = identity
        mapped.userRecordName = self.user(identity.userRecordName)
        if case .userRecordName(let name) = identity.lookup {
            mapped.lookup = .userRecordName(self.user(name))
        }
        return mapped
    }
}
