import RecordStore

/// The names that operators gave the users and services of a container, by their user record names.
package struct AccountNames: Sendable {
    private let names: [String: String]

    package init(of container: AdministeredContainer) throws(AdministrationError) {
        let users = try container.users()
        self.names = Dictionary(users.map { ($0.userRecordName, $0.name) }) { first, _ in first }
    }

    /// `nil` if no user of the container has the user record name: it may be that of a deleted user.
    package func name(of userRecordName: String) -> String? { self.names[userRecordName] }

    /// The name, or the user record name where there is none.
    package func shortText(of userRecordName: String) -> String {
        self.name(of: userRecordName) ?? userRecordName
    }

    /// Such as `alice (_0123456789abcdef0123456789abcdef)`.
    package func text(of userRecordName: String) -> String {
        self.name(of: userRecordName).map { "\($0) (\(userRecordName))" } ?? userRecordName
    }
}
