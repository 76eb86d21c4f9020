import RecordModel

@testable import CloudKit

let sharedZone = CKRecordZone.ID(zoneName: "notes")

func person(
    _ id: String,
    _ role: ShareRole = .privateUser,
    user: String = "",
    email: String? = nil,
    permission: SharePermission = .readWrite,
    acceptance: ShareAcceptance = .accepted
) -> ShareParticipant {
    ShareParticipant(
        id: id,
        identity: UserIdentity(userRecordName: user, lookup: email.map { .emailAddress($0) }),
        role: role,
        permission: permission,
        acceptance: acceptance
    )
}

/// A share of `list` whose owner is `_me`, and the reader too.
func serverShare(_ others: [ShareParticipant] = [], publicPermission: SharePermission = .none) -> Share {
    var share = Share(
        root: "list",
        token: "token-1",
        publicPermission: publicPermission,
        participants: [person("O", .owner, user: "_me")] + others
    )
    share.currentParticipantID = "O"
    return share
}

/// The record of a share as a server sends it.
func shareRecord(_ share: Share, tag: String = "t1", fields: [Field] = []) -> Record {
    let contents = Field(name: ShareRecord.contentsField, value: .bytes(share.bytes))
    return Record(
        id: RecordID(zone: sharedZone.model, recordName: "share-1"),
        recordType: ShareRecord.type,
        changeTag: tag,
        system: SystemFields(
            createdMilliseconds: 1,
            modifiedMilliseconds: 2,
            createdBy: "_me",
            modifiedBy: "_me"
        ),
        body: RecordBody((fields + [contents]).sorted { $0.name < $1.name })
    )
}

/// A share that was fetched from `tidemark://example.org`.
func fetchedShare(
    _ share: Share = serverShare(),
    fields: [Field] = []
) -> CKShare {
    let record = CKRecord.made(of: shareRecord(share, fields: fields), currentUser: "_me")
    guard let made = record as? CKShare else { preconditionFailure("a share came as another record") }
    made.isAt("tidemark://example.org")
    return made
}

extension CKShare {
    /// What a save of the share changes of who takes part.
    func changes() throws -> ShareChanges {
        let save = try self.save(policy: .ifServerRecordUnchanged)
        guard case .changes(let changes) = save.share else {
            preconditionFailure("a share is saved as another record")
        }
        return changes
    }
}
