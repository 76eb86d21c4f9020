public import Foundation
internal import RecordModel
private import Synchronization

/// Lets other users access a record with all records below it, or a zone.
///
/// ```swift
/// let share = CKShare(rootRecord: list)
/// share[CKShare.SystemFieldKey.title] = "Shopping"
/// share.publicPermission = .readWrite
/// let (results, _) = try await database.modifyRecords(saving: [list, share], deleting: [])
/// _ = try results[share.recordID]?.get()
/// print(share.url?.absoluteString ?? "")
/// ```
///
/// A share is a record of the type `CKRecord.SystemType.share`, in the zone of its root record, in
/// the owner's private database. Save it together with its root the first time. A later save
/// changes the participants. They find the records in their shared databases.
///
/// The share remembers faults for which Apple's framework raises an exception, and the save fails:
///
/// | error | what to do |
/// |---|---|
/// | `serverRecordChanged` | another user joined or changed it: change and save `serverRecord` |
/// | `invalidArguments` | set `publicPermission` to `.none` before you add or remove participants |
/// | `invalidArguments` | do not remove the owner; keep the share in the zone of its root |
/// | `tooManyParticipants` | keep it at 100 participants |
/// | `alreadyShared` | use the share that the record has |
/// | `permissionFailure` | let the owner or an administrator save it |
///
/// - Source: Apple's `CKShare`.
// SAFETY: see `CKRecord`.
open class CKShare: CKRecord, @unchecked Sendable {
    /// Makes the share of a record with all records below it, under a random name in its zone.
    ///
    /// The record gets the share as its `share`. Save both in one operation.
    ///
    /// - Parameter rootRecord: The record, in a custom zone.
    public convenience init(rootRecord: CKRecord) {
        let name = "Share-\(UUID().uuidString)"
        self.init(
            rootRecord: rootRecord,
            shareID: CKRecord.ID(recordName: name, zoneID: rootRecord.recordID.zoneID)
        )
    }

    /// Makes the share of a record with all records below it.
    ///
    /// The record gets the share as its `share`. Save both in one operation.
    ///
    /// - Parameters:
    ///   - rootRecord: The record, in a custom zone.
    ///   - shareID: The ID of the share, in the zone of the record.
    public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
        var state = RecordState(table: FieldTable())
        var sharing = ShareState(newFor: rootRecord.recordID.recordName)
        if rootRecord.recordID.zoneID != shareID.zoneID {
            sharing.misuse = ValueRefusal("A share must be in the zone of its root record")
        }
        state.sharing = sharing
        super.init(storing: CKRecordTypeShare, recordID: shareID, state: state)
        let reference = CKReference(recordID: shareID, action: .none)
        rootRecord.state.withLock { $0.ownShare = reference }
    }

    /// Makes the share of a zone.
    ///
    /// - Parameter recordZoneID: The ID of a custom zone.
    public init(recordZoneID: CKRecordZone.ID) {
        var state = RecordState(table: FieldTable())
        state.sharing = ShareState(newFor: nil)
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID)
        super.init(storing: CKRecordTypeShare, recordID: id, state: state)
    }

    /// Reads an archived share, or its system fields, which are everything but its fields.
    ///
    /// From an archive without a share it makes one that can't be saved.
    public required init(coder: NSCoder) {
        if let archive = RecordArchive(coder), archive.state.sharing != nil {
            super.init(storing: archive.recordType, recordID: archive.recordID, state: archive.state)
            return
        }
        // Apple's initialiser can't fail. A coder of Foundation on Linux either forgets an error
        // that it is given or ends the program.
        var state = RecordState(table: FieldTable())
        state.sharing = ShareState(newFor: nil)
        state.sharing?.misuse = ValueRefusal("The archive has no share")
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare)
        super.init(storing: CKRecordTypeShare, recordID: id, state: state)
    }

    /// Makes a share that a server returned.
    init(sharing recordID: CKRecord.ID, state: RecordState) {
        super.init(storing: CKRecordTypeShare, recordID: recordID, state: state)
    }

    /// Returns an independent share with the same content, change tag and changes, and participants
    /// of its own.
    open override func copy(with zone: NSZone? = nil) -> Any {
        var state = self.snapshot.copy
        state.sharing = state.sharing?.copy
        return CKShare(sharing: self.storedID, state: state)
    }

    override func tableKey(of key: FieldKey) -> String { ShareKeys.name(of: key) }
    override func fieldKey(of name: String) -> FieldKey { ShareKeys.key(of: name) }

    /// The state besides the fields, at this moment.
    var sharing: ShareState { self.snapshot.sharing ?? ShareState(newFor: nil) }

    func change<Released>(_ change: (inout ShareState) -> Released) -> Released {
        self.state.withLock { state in
            var sharing = state.sharing ?? ShareState(newFor: nil)
            defer { state.sharing = sharing }
            return change(&sharing)
        }
    }

    /// The permission of all users who know the URL.
    ///
    /// With `.none` only invited people can join. Any other value ends the invitations of people
    /// who have not joined; those who have joined stay. A change to `.none` removes the people who
    /// joined by the URL; those who were invited stay.
    open var publicPermission: ParticipantPermission {
        get { ParticipantPermission(self.sharing.publicPermission) }
        set { _ = self.change { $0.setPublicPermission(newValue.model) } }
    }

    /// The URL of the share; `nil` until it was saved.
    open var url: URL? {
        let sharing = self.sharing
        guard let address = sharing.address, let token = sharing.known?.token else { return nil }
        return ShareURL.url(address: address, token: token)
    }

    /// Whether people who know the URL may request access.
    open var allowsAccessRequests: Bool {
        get { self.sharing.allowsAccessRequests }
        set { self.change { $0.allowsAccessRequests = newValue } }
    }

    /// A description of the share for people, with its keys but without its values.
    open override var description: String {
        let sharing = self.sharing
        return "<CKShare: recordID=\(self.recordID), recordChangeTag=\(self.recordChangeTag ?? "nil"), "
            + "publicPermission=\(sharing.publicPermission), participants=\(sharing.participants.count), "
            + "keys=\(self.allKeys())>"
    }
}
