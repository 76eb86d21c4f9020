public import Foundation
internal import RecordModel
private import Synchronization

/// What lets others into a record with all that is below it, or into a zone.
///
/// A share is a record of the type `CKRecord.SystemType.share` in the zone of what it covers, in its owner's private database. It is
/// saved together with its root the first time; saved again, it changes who takes part. Whoever takes part finds the records in his
/// shared database.
///
/// What Apple's framework raises an exception for is remembered, and the save fails with `CKError.Code.invalidArguments`: participants who are
/// added or removed while `publicPermission` isn't `.none`, an owner who is removed, a share in another zone than its root.
// SAFETY: see `CKRecord`.
open class CKShare: CKRecord, @unchecked Sendable {
    /// Makes the share of a record with all that is below it, under a random name in its zone.
    ///
    /// The record gets the share as its `share`; save both in one operation.
    public convenience init(rootRecord: CKRecord) {
        let name = "Share-\(UUID().uuidString)"
        self.init(
            rootRecord: rootRecord,
            shareID: CKRecord.ID(recordName: name, zoneID: rootRecord.recordID.zoneID)
        )
    }

    /// Makes the share of a record with all that is below it.
    ///
    /// The record gets the share as its `share`; save both in one operation.
    ///
    /// - Parameters:
    ///   - rootRecord: What is shared.
    ///   - shareID: The ID of the share, in the zone of the record.
    public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
        var state = RecordState(table: FieldTable(in: shareID.zoneID))
        var sharing = ShareState(newFor: rootRecord.recordID.recordName)
        if rootRecord.recordID.zoneID != shareID.zoneID {
            sharing.misuse = ValueRefusal("A share must be in the zone of its root record")
        }
        state.sharing = sharing
        super.init(storing: CKRecordTypeShare, recordID: shareID, state: state)
        let reference = CKReference(recordID: shareID, action: .none)
        rootRecord.state.withLock { $0.share = reference }
    }

    /// Makes the share of a zone.
    public init(recordZoneID: CKRecordZone.ID) {
        var state = RecordState(table: FieldTable(in: recordZoneID))
        state.sharing = ShareState(newFor: nil)
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID)
        super.init(storing: CKRecordTypeShare, recordID: id, state: state)
    }

    /// Reads an archived share, or the system fields of one, to which all belongs that is not a field.
    ///
    /// From an archive that has none comes a share that can't be saved.
    public required init(coder: NSCoder) {
        if let archive = RecordArchive(coder), archive.state.sharing != nil {
            super.init(storing: archive.recordType, recordID: archive.recordID, state: archive.state)
            return
        }
        // Apple's initialiser can't fail, and a coder of Foundation's on Linux that is told of an error forgets it or ends the program.
        var state = RecordState(table: FieldTable(in: .default))
        state.sharing = ShareState(newFor: nil)
        state.sharing?.misuse = ValueRefusal("The archive of the share had no share")
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare)
        super.init(storing: CKRecordTypeShare, recordID: id, state: state)
    }

    /// Takes up what a server returned.
    init(sharing recordID: CKRecord.ID, state: RecordState) {
        super.init(storing: CKRecordTypeShare, recordID: recordID, state: state)
    }

    /// Returns an independent share with the same content, change tag and changes, and participants of its own.
    open override func copy(with zone: NSZone? = nil) -> Any {
        var state = self.snapshot.copy
        state.sharing = state.sharing?.copy
        return CKShare(sharing: self.storedID, state: state)
    }

    override func tableKey(of key: FieldKey) -> String { ShareKeys.name(of: key) }
    override func fieldKey(of name: String) -> FieldKey { ShareKeys.key(of: name) }

    /// What is beside the fields, at this moment.
    var sharing: ShareState { self.snapshot.sharing ?? ShareState(newFor: nil) }

    func change<Released>(_ change: (inout ShareState) -> Released) -> Released {
        self.state.withLock { state in
            var sharing = state.sharing ?? ShareState(newFor: nil)
            defer { state.sharing = sharing }
            return change(&sharing)
        }
    }

    /// What everybody may do who knows the URL.
    ///
    /// With `.none` only invited people get in. Another value ends the invitations of people who have not joined; those who have
    /// joined stay. A change to `.none` removes every participant but the owner; people who are added after that and before the
    /// save take part.
    open var publicPermission: ParticipantPermission {
        get { ParticipantPermission(self.sharing.publicPermission) }
        set { _ = self.change { $0.setPublicPermission(newValue.model) } }
    }

    /// The URL that leads to the share; `nil` until it was saved.
    open var url: URL? {
        let sharing = self.sharing
        guard let address = sharing.address, let token = sharing.known?.token else { return nil }
        return ShareURL.url(address: address, token: token)
    }

    /// Whether people who know the URL may ask to be let in.
    open var allowsAccessRequests: Bool {
        get { self.sharing.allowsAccessRequests }
        set { self.change { $0.allowsAccessRequests = newValue } }
    }

    /// The share for people to read, with its keys but not its values.
    open override var description: String {
        let sharing = self.sharing
        return "<CKShare: recordID=\(self.recordID), recordChangeTag=\(self.recordChangeTag ?? "nil"), "
            + "publicPermission=\(sharing.publicPermission), participants=\(sharing.participants.count), "
            + "keys=\(self.allKeys())>"
    }
}
