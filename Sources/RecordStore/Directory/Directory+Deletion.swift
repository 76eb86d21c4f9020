import RecordModel
package import StorageContract

extension Directory {
    /// Reads how much a container stores, from counters that are kept with every change: takes a time
    /// that depends on the number of users alone.
    package func usage(ofContainer container: String) throws(DirectoryError) -> ContainerUsage {
        try self.read { try $0.usage(ofContainer: container) }
    }

    /// Databases that are added up before others may read.
    private static let databasesMax = 2_000

    /// Sums up all containers, from the same counters.
    ///
    /// Databases are read a few at a time, so that no sign-in waits for all of them: the sum is not
    /// that of one moment.
    package func storedAmount() throws(DirectoryError) -> StoredAmount {
        var amount = StoredAmount()
        var last = DatabaseID(rawValue: 0)
        while let some = try self.read({ [last] in
            try $0.storedAmount(after: last, limit: Self.databasesMax)
        }) {
            amount.add(some.amount)
            last = some.last
        }
        return amount
    }

    /// Sums up the amounts that a deletion would remove, from counters and indexes.
    ///
    /// - Throws: `userMissing`.
    package func extent(of deletion: Deletion) throws(DirectoryError) -> DeletionExtent {
        try self.read { try $0.extent(of: deletion) }
    }

    /// Ends every credential, so that no client changes data that `deleteSome` deletes; repeating
    /// the call does no harm.
    ///
    /// - Throws: `userMissing`.
    package func beginDeletion(_ deletion: Deletion) throws(DirectoryError) {
        try self.change { try $0.beginDeletion(deletion) }
    }

    /// Deletes a piece of a deletion's data, in a transaction that is as short as those of clients.
    ///
    /// Files of assets go with the server's next sweep.
    ///
    /// - Throws: `containerMissing` or `userMissing` once nothing is left.
    package func deleteSome(of deletion: Deletion) throws(DirectoryError) -> DeletionProgress {
        try self.write { transaction in
            let lookup = DirectoryLookup(rows: transaction)
            let container = try lookup.container(deletion.container)
            let steps = DeletionSteps(transaction: transaction)
            switch deletion {
            case .user(let name, _):
                let user = try lookup.user(named: name, in: container)
                return try steps.deleteSome(of: user, leavesShares: true)
            case .container:
                return try steps.deleteSome(ofContainer: container)
            }
        }
    }
}

extension DirectoryLookup {
    fileprivate func extent(of deletion: Deletion) throws -> DeletionExtent {
        let container = try self.container(deletion.container)
        var extent = DeletionExtent(users: 0, stored: StoredAmount(), shares: 0, memberships: 0)
        func add(_ database: DatabaseRow, countsMemberships: Bool) throws(StorageFailure) {
            extent.stored.add(database.stored)
            extent.shares += try self.rows.count(RowRange(ShareRow.byName, database.number))
            guard countsMemberships else { return }
            extent.memberships += try self.rows.count(RowRange(ShareReaderRow.byKey, database.number))
        }
        let environments = try self.environments(ofContainer: container)
        switch deletion {
        case .user(let name, _):
            let user = try self.user(named: name, in: container)
            extent.users = 1
            for environment in environments {
                for scope in [DatabaseScope.private, .shared] {
                    let own = try self.rows.row(
                        DatabaseRow.byOwner,
                        environment.number,
                        scope,
                        user.number
                    )
                    if let own { try add(own, countsMemberships: true) }
                }
            }
        case .container:
            try self.rows.visit(RowRange(UserRow.byName, container)) { (user) throws(StorageFailure) in
                if user.kind != .deleted { extent.users += 1 }
            }
            for environment in environments {
                try self.rows.visit(RowRange(DatabaseRow.byOwner, environment.number)) {
                    (database) throws(StorageFailure) in
                    try add(database, countsMemberships: false)
                }
            }
        }
        return extent
    }
}
