// Compiled, not run: single names of the module, in the place of Apple's `import CloudKit.CKRecord`.
import class CloudKit.CKRecord
import struct CloudKit.CKError
import let CloudKit.CKCurrentUserDefaultName

enum ImportIdioms {
    static func name(of record: CKRecord) -> String {
        let id: CKRecord.ID = record.recordID
        return id.zoneID.ownerName == CKCurrentUserDefaultName ? id.recordName : "shared"
    }

    static func isMissing(_ error: any Error) -> Bool { (error as? CKError)?.code == .unknownItem }
}
