package import RecordModel
package import StorageContract

/// Says where the URLs of shares lead, and who people are.
package struct ShareMetadataExecution {
    let requester: Requester
    let container: String
    let snapshot: any Snapshot
    private let bytesMax: Int
    /// The shares of zones that were read.
    private var known: [ZoneKey: ZoneShares] = [:]
    /// The bytes of the records that were found.
    private var bytes = 0

    package init(for requester: Requester, container: String, bytesMax: Int, snapshot: any Snapshot) {
        self.requester = requester
        self.container = container
        self.bytesMax = bytesMax
        self.snapshot = snapshot
    }

    private var user: String { self.requester.userRecordName ?? "" }

    /// One result a token, in order; `responseTooLarge` if the records take more than `bytesMax`.
    package mutating func metadata(
        _ fetch: FetchShareMetadata
    ) throws(StorageFailure) -> Result<[Result<ShareMetadata, StoreError>], StoreError> {
        var results: [Result<ShareMetadata, StoreError>] = []
        for token in fetch.tokens {
            results.append(try self.metadata(token, fetch))
            guard self.bytes <= self.bytesMax else { return .failure(.responseTooLarge(bytes: self.bytes)) }
        }
        return .success(results)
    }

    private mutating func metadata(
        _ token: String,
        _ fetch: FetchShareMetadata
    ) throws(StorageFailure) -> Result<ShareMetadata, StoreError> {
        let target = try self.snapshot.target(ofToken: token) { (zone) throws(StorageFailure) in
            if let known = self.known[zone] { return known }
            let shares = ZoneShares(try self.snapshot.shares(in: zone))
            self.known[zone] = shares
            return shares
        }
        guard let target, target.environment == self.requester.environment, let share = target.share,
            let record = try self.snapshot.record(named: share.name, in: target.zone),
            let contents = record.body.share
        else { return .failure(.shareMissing) }
        let entry = try ShareEntry(
            of: self.user,
            to: contents,
            participant: target.participant
        ) { (lookup) throws(StorageFailure) in
            try self.snapshot.user(lookup, in: self.requester.environment)
        }
        var participant: ShareParticipant?
        switch entry {
        case .refused(let error): return .failure(error)
        case .joined(let index), .invited(let index): participant = contents.participants[index]
        case .open: break
        }
        let permission = participant?.permission ?? contents.publicPermission
        var metadata = ShareMetadata(
            container: self.container,
            share: record.seen(by: self.user).record(id: target.recordID(named: share.name, for: self.user)),
            rootRecordName: share.root,
            role: participant?.role ?? .publicUser,
            acceptance: participant?.acceptance ?? .pending,
            permission: permission,
            owner: UserIdentity(userRecordName: target.ownerName)
        )
        if fetch.wantsRootRecords, permission == .readOnly || permission == .readWrite, let root = share.root,
            let stored = try self.snapshot.record(named: root, in: target.zone)
        {
            metadata.rootRecord = stored.asRoot.record(
                id: target.recordID(named: root, for: self.user),
                keeping: fetch.desiredKeys.map { Set($0) }
            )
        }
        self.bytes += metadata.share.body.bytes.count + (metadata.rootRecord?.body.bytes.count ?? 0)
        return .success(metadata)
    }

    /// Finds users who can be invited: one result a lookup, in order.
    package func participants(
        _ lookups: [IdentityLookup]
    ) throws(StorageFailure) -> [Result<UserIdentity, StoreError>] {
        var results: [Result<UserIdentity, StoreError>] = []
        for lookup in lookups {
            if let user = try self.snapshot.user(lookup, in: self.requester.environment) {
                results.append(.success(UserIdentity(userRecordName: user, lookup: lookup)))
            } else if case .userRecordName = lookup {
                results.append(.failure(.recordMissing))
            } else {
                // A user who proves to have the address later can still accept.
                results.append(.success(UserIdentity(lookup: lookup)))
            }
        }
        return results
    }
}

extension StoredRecord {
    /// The root of a share as a participant sees it: its ancestors are not shared.
    package var asRoot: StoredRecord {
        guard self.parent != nil else { return self }
        return StoredRecord(
            number: self.number,
            recordType: self.recordType,
            position: self.position,
            system: self.system,
            parent: nil,
            body: self.body
        )
    }
}
