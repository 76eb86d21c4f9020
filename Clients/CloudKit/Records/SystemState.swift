import Foundation
import RecordModel

/// The server's data about a record besides its fields.
struct SystemState: Hashable {
    var changeTag: String?
    var createdMilliseconds: Int64?
    var modifiedMilliseconds: Int64?
    /// Record names; `CKCurrentUserDefaultName` for the current user.
    var creator: String?
    var modifier: String?

    init() {}

    init(changeTag: String, system: SystemFields, currentUser: String?) {
        self.changeTag = changeTag
        self.createdMilliseconds = system.createdMilliseconds
        self.modifiedMilliseconds = system.modifiedMilliseconds
        self.creator = Self.name(system.createdBy, currentUser: currentUser)
        self.modifier = Self.name(system.modifiedBy, currentUser: currentUser)
    }

    private static func name(_ user: String, currentUser: String?) -> String? {
        guard !user.isEmpty else { return nil }
        return user == currentUser ? CKCurrentUserDefaultName : user
    }
}

extension Date {
    /// Makes a date of the server's clock; not with `timeIntervalSince1970`, which differs in the
    /// last bit.
    init(milliseconds: Int64) {
        self.init(timeIntervalSinceReferenceDate: ServerDate.seconds(milliseconds: milliseconds))
    }
}
