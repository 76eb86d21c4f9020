import Foundation
import RecordModel

extension UserIdentity {
    /// Reads an identity that Apple's framework archived: the name of its user record.
    init?(apple coder: NSCoder) {
        guard let id: CKRecordID = coder.appleObject("UserRecordID") else { return nil }
        self.init(userRecordName: id.recordName)
    }
}

extension ShareParticipant {
    /// Reads a participant that Apple's framework archived; `nil` if there is none.
    init?(apple coder: NSCoder) {
        guard let id: String = coder.appleObject("ParticipantID") else { return nil }
        let identity: CKUserIdentity? = coder.appleObject("UserIdentity")
        func number(_ key: String) -> UInt8 { coder.appleNumber(key).flatMap { UInt8(exactly: $0) } ?? 0 }
        self.init(
            id: id,
            identity: identity?.model ?? UserIdentity(),
            role: ShareRole(rawValue: number("Type")) ?? .unknown,
            permission: SharePermission(rawValue: number("Permission")) ?? .unknown,
            acceptance: ShareAcceptance(rawValue: number("AcceptanceStatus")) ?? .unknown
        )
    }
}
