package import RecordModel
package import RecordStore

extension SQLiteEngine {
    package func fetchShareMetadata(
        _ fetch: FetchShareMetadata,
        container: String,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[ReadOutcome], StoreError>) -> Void
    ) {
        self.read(isShort: fetch.tokens.count <= 1, requester, reply) { (connection) throws(StorageFailure) in
            try connection.snapshot { () throws(StorageFailure) in
                let execution = ShareMetadataExecution(
                    for: requester,
                    container: container,
                    reader: connection
                )
                return .success(
                    try execution.metadata(fetch).map { result in
                        switch result {
                        case .success(let metadata): .shareMetadata(metadata)
                        case .failure(let error): .failed(error)
                        }
                    }
                )
            }
        }
    }

    package func fetchShareParticipants(
        _ lookups: [IdentityLookup],
        for requester: Requester,
        reply: @escaping @Sendable (Result<[ReadOutcome], StoreError>) -> Void
    ) {
        self.read(isShort: lookups.count <= 4, requester, reply) { (connection) throws(StorageFailure) in
            try connection.snapshot { () throws(StorageFailure) in
                let execution = ShareMetadataExecution(for: requester, container: "", reader: connection)
                return .success(
                    try execution.participants(lookups).map { result in
                        switch result {
                        case .success(let identity): .identity(identity)
                        case .failure(let error): .failed(error)
                        }
                    }
                )
            }
        }
    }

    package func accessReport(
        on id: RecordID,
        in requester: Requester,
        reply: @escaping @Sendable (Result<AccessReport?, StoreError>) -> Void
    ) {
        self.read(isShort: true, requester, reply) { (connection) throws(StorageFailure) in
            try connection.snapshot { () throws(StorageFailure) in
                .success(try AccessReport(of: id, in: requester, reader: connection))
            }
        }
    }
}

extension ReadConnection: AccessReportReader {
    func zoneKey(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        try self.key(ofZone: name, in: database)
    }

    func shareCovering(_ record: StoredRecord, in zone: ZoneKey) throws(StorageFailure) -> StoredShare? {
        try self.shares.share(covering: record.number, in: zone)
    }

    func grantsOfType(_ type: String, in environment: EnvironmentID) throws(StorageFailure) -> [Grant] {
        try self.grants.grants(ofType: type, in: environment)
    }
}

extension ReadConnection: ShareReader {
    func place(ofToken token: String) throws(StorageFailure) -> SharePlace? {
        try self.shares.place(ofToken: token)
    }

    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        try self.stored(name, in: zone)
    }

    func user(
        _ lookup: IdentityLookup,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> String? {
        try self.shares.user(lookup, in: environment)
    }
}
