import RecordStore

/// The names that operators gave the users and services of a container, by their user record names.
struct AccountNames {
    private let names: [String: String]

    init(ofContainer container: String, in directory: Directory) throws(CommandFailure) {
        do throws(DirectoryError) {
            let users = try directory.users(ofContainer: container)
            self.names = Dictionary(users.map { ($0.userRecordName, $0.name) }) { first, _ in first }
        } catch {
            throw DirectoryAdvice.failure(error, container: container, user: nil)
        }
    }

    /// `nil` if nobody of the container has the user record name: it may be that of a deleted user.
    func name(of userRecordName: String) -> String? { self.names[userRecordName] }

    /// The name, or the user record name where there is none.
    func shortText(of userRecordName: String) -> String { self.name(of: userRecordName) ?? userRecordName }

    /// Such as `alice (_0123456789abcdef0123456789abcdef)`.
    func text(of userRecordName: String) -> String {
        self.name(of: userRecordName).map { "\($0) (\(userRecordName))" } ?? userRecordName
    }
}
