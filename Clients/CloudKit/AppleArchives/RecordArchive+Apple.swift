import Foundation
import RecordModel

extension RecordArchive {
    /// Reads the system fields of a record or share that Apple's framework archived; `nil` if there
    /// are none.
    ///
    /// It leaves out values: they are encrypted, or of classes with unpublished keys. A
    /// share comes with its ID, its root and its public permission. Its URL and its participants
    /// belong to iCloud.
    init?(apple coder: NSCoder) {
        guard let recordType: String = coder.appleObject("RecordType"),
            let recordID: CKRecordID = coder.appleObject("RecordID")
        else { return nil }
        var system = SystemState()
        system.changeTag = coder.appleObject("ETag")
        system.createdMilliseconds = coder.appleObject("RecordCtime", as: Date.self)?.milliseconds
        system.modifiedMilliseconds = coder.appleObject("RecordMtime", as: Date.self)?.milliseconds
        system.creator = coder.appleObject("CreatorUserRecordID", as: CKRecordID.self)?.recordName
        system.modifier = coder.appleObject("LastModifiedUserRecordID", as: CKRecordID.self)?.recordName
        var state = RecordState(system: system, table: FieldTable())
        let parent = coder.appleObject("ParentReference", as: CKReference.self).map {
            RecordState.Parent($0, in: recordID.zoneID)
        }
        _ = state.replaceParent(by: parent, isChange: false)
        state.ownShare = coder.appleObject("ShareReference", as: CKReference.self)
        if recordType == ShareRecord.type {
            let root = coder.appleObject("RootRecordID", as: CKRecordID.self)
            var sharing = ShareState(newFor: root?.recordName)
            let permission = coder.appleNumber("PublicPermission").flatMap {
                CKShare.ParticipantPermission(rawValue: $0)
            }
            if let permission { _ = sharing.setPublicPermission(permission.model) }
            state.sharing = sharing
        }
        self.init(recordType: recordType, recordID: recordID, state: state)
    }
}

extension Date {
    /// Milliseconds since 1970; `nil` if the date is not finite.
    fileprivate var milliseconds: Int64? {
        Int64(exactly: (self.timeIntervalSince1970 * 1_000).rounded())
    }
}
