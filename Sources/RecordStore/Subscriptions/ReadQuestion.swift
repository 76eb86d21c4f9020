import RecordModel
package import StorageContract

/// The question whether a user may read a record of a public database, by the record's known type
/// and creator.
package struct ReadQuestion: Hashable, Sendable {
    package let requester: Requester
    package let recordType: String
    package let createdBy: String

    package init(requester: Requester, recordType: String, createdBy: String) {
        self.requester = requester
        self.recordType = recordType
        self.createdBy = createdBy
    }
}

extension IndexReader {
    /// Whether users may read records, by the grants and roles of the public database; in other databases
    /// they may: one answer a question, in order.
    ///
    /// All questions are of one environment. The reads are as many, whatever the number of questions.
    func mayRead(_ questions: [ReadQuestion]) throws(StorageFailure) -> [Bool] {
        guard let environment = questions.first?.requester.environment else { return [] }
        let names = Set(questions.map(\.recordType)).sorted()
        var grants: [String: [Grant]] = [:]
        for (name, type) in zip(names, try self.types(named: names, in: environment)) {
            grants[name] = SchemaRules.grantsInForce(type?.grants ?? [], ofType: name)
        }
        let users = Set(
            questions.compactMap { grants[$0.recordType]?.nameCustomRoles == true ? $0.requester : nil }
                .filter { $0.scope == .public }.compactMap(\.userRecordName)
        )
        let named = Set(grants.values.joined().map(\.role)).subtracting(SystemRole.names)
        let roles = try self.roles(named: named.sorted(), ofUsers: users.sorted(), in: environment)
        return questions.map { question in
            TypeAccess(
                grants: grants[question.recordType] ?? [],
                roles: question.requester.userRecordName.flatMap { roles[$0] } ?? [],
                requester: question.requester
            ).mayRead(recordCreatedBy: question.createdBy)
        }
    }
}

extension TableReader {
    /// Which of some custom roles users have, by record name.
    fileprivate func roles(
        named names: [String],
        ofUsers users: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [String: Set<String>] {
        guard !names.isEmpty, !users.isEmpty else { return [:] }
        let roles = try self.rows(RoleRow.byName, keys: names.map { RoleRow.byName.key(environment, $0) })
            .compactMap { $0 }
        let found = try self.rows(UserRow.byRecordName, keys: users).compactMap { $0 }
        let pairs = found.flatMap { user in roles.map { (user, $0) } }
        let given = try self.rows(
            UserRoleRow.byKey,
            keys: pairs.map { UserRoleRow.byKey.key($0.number, $1.number) }
        )
        var rolesByUser: [String: Set<String>] = [:]
        for ((user, role), row) in zip(pairs, given) where row != nil {
            rolesByUser[user.recordName, default: []].insert(role.name)
        }
        return rolesByUser
    }
}
