// What published code writes about sharing, in the shape of Apple's documented calls: compiled, not run.
import CloudKit

final class SharingIdioms {
    let container = CKContainer(identifier: "iCloud.org.example")
    private var share: CKShare?

    func shareRecord(_ root: CKRecord, title: String) async throws -> CKShare {
        let share: CKShare
        if let reference = root.share {
            guard
                let existing = try await self.container.privateCloudDatabase.record(for: reference.recordID)
                    as? CKShare
            else { throw CKError(.unknownItem) }
            share = existing
        } else {
            share = CKShare(
                rootRecord: root,
                shareID: CKRecord.ID(
                    recordName: "share-\(root.recordID.recordName)",
                    zoneID: root.recordID.zoneID
                )
            )
        }
        share[CKShare.SystemFieldKey.title] = title as CKRecordValue
        share[CKShare.SystemFieldKey.title] = title as NSString
        share[CKShare.SystemFieldKey.thumbnailImageData] = Data()
        share[CKShare.SystemFieldKey.shareType] = "com.example.type"
        share.publicPermission = .readWrite
        let (saveResults, _) = try await self.container.privateCloudDatabase.modifyRecords(
            saving: [root, share],
            deleting: []
        )
        guard case .success(let saved)? = saveResults[share.recordID], let result = saved as? CKShare else {
            throw CKError(.internalError)
        }
        return result
    }

    func shareZone(_ zone: CKRecordZone, done: @escaping (CKShare?, (any Error)?) -> Void) {
        let share = CKShare(recordZoneID: zone.zoneID)
        share.publicPermission = CKShare.ParticipantPermission.none
        let operation = CKModifyRecordsOperation(recordsToSave: [share], recordIDsToDelete: nil)
        operation.savePolicy = .ifServerRecordUnchanged
        operation.perRecordSaveBlock = { _, result in
            if case .success(let record) = result { done(record as? CKShare, nil) }
        }
        operation.modifyRecordsResultBlock = { result in
            if case .failure(let error) = result { done(nil, error) }
        }
        self.container.privateCloudDatabase.add(operation)
        if zone.share != nil { print(zone.capabilities.contains(.zoneWideSharing)) }
    }

    func invite(_ emails: [String], to share: CKShare) {
        let infos = emails.map { CKUserIdentity.LookupInfo(emailAddress: $0) }
        let operation = CKFetchShareParticipantsOperation(userIdentityLookupInfos: infos)
        operation.perShareParticipantResultBlock = { _, result in
            if case .success(let participant) = result {
                participant.permission = .readWrite
                share.addParticipant(participant)
            }
        }
        operation.fetchShareParticipantsResultBlock = { result in
            switch result {
            case .success: print("done")
            case .failure(let error): print(error.localizedDescription)
            }
        }
        operation.qualityOfService = .userInitiated
        self.container.add(operation)
    }

    func accept(_ metadata: CKShare.Metadata) {
        guard metadata.participantStatus == .pending, metadata.participantRole != .owner else { return }
        let operation = CKAcceptSharesOperation(shareMetadatas: [metadata])
        operation.perShareResultBlock = { metadata, result in
            switch result {
            case .success(let share): print(share.recordID, metadata.share.url as Any)
            case .failure(let error): print("\(error)")
            }
        }
        operation.acceptSharesResultBlock = { [weak self] result in
            if case .failure(let error) = result { print(error, self?.share as Any) }
        }
        CKContainer(identifier: metadata.containerIdentifier).add(operation)
    }

    func fetchMetadata(_ url: URL, done: @escaping (CKShare.Metadata?) -> Void) {
        let operation = CKFetchShareMetadataOperation(shareURLs: [url])
        operation.shouldFetchRootRecord = true
        operation.rootRecordDesiredKeys = ["title"]
        operation.perShareMetadataResultBlock = { _, result in done(try? result.get()) }
        operation.fetchShareMetadataResultBlock = { _ in }
        self.container.add(operation)
        let container = self.container
        container.fetchShareMetadata(with: url) { metadata, error in
            if let metadata { container.accept(metadata) { share, _ in print(share as Any) } }
            print(error as Any)
        }
    }

    func joinAll(_ urls: [URL]) async throws {
        let metadata = try await self.container.shareMetadata(for: urls[0])
        let joined = try await self.container.accept(metadata)
        if let root = metadata.hierarchicalRootRecordID {
            let record = try await self.container.sharedCloudDatabase.record(for: root)
            print(record.share == nil, joined.currentUserParticipant?.permission == .readOnly)
        }
        let metadatas = try await self.container.shareMetadatas(for: urls).values.compactMap { try? $0.get() }
        for (metadata, result) in try await self.container.accept(metadatas) {
            print(metadata.ownerIdentity.nameComponents?.givenName ?? "", try result.get().participants.count)
        }
        for (url, result) in try await self.container.requestShareAccess(for: urls) {
            if case .failure(let error) = result { print(url, error) }
        }
        self.container.fetchShareMetadatas(for: urls) { result in print((try? result.get())?.count ?? 0) }
        self.container.accept(metadatas) { result in print((try? result.get())?.count ?? 0) }
        let access = CKShareRequestAccessOperation(shareURLs: urls)
        access.perShareAccessRequestResultBlock = { url, result in print(url, result) }
        access.shareAccessRequestResultBlock = { _ in }
        self.container.add(access)
    }

    func lookUp(_ id: CKRecord.ID) async throws -> [CKShare.Participant] {
        var people = [
            try await self.container.shareParticipant(forEmailAddress: "ann@example.org"),
            try await self.container.shareParticipant(forPhoneNumber: "+49301"),
            try await self.container.shareParticipant(forUserRecordID: id),
        ]
        people += try await self.container.shareParticipants(forEmailAddresses: ["a"]).values.map {
            try $0.get()
        }
        people += try await self.container.shareParticipants(forPhoneNumbers: ["1"]).values.map {
            try $0.get()
        }
        people += try await self.container.shareParticipants(forUserRecordIDs: [id]).values.map {
            try $0.get()
        }
        let infos =
            CKUserIdentity.LookupInfo.lookupInfos(withEmails: ["a"])
            + CKUserIdentity.LookupInfo.lookupInfos(withPhoneNumbers: ["1"])
            + CKUserIdentity.LookupInfo.lookupInfos(with: [id])
        people += try await self.container.shareParticipants(for: infos).values.map { try $0.get() }
        self.container.fetchShareParticipant(withEmailAddress: "a") { participant, _ in
            print(participant as Any)
        }
        self.container.fetchShareParticipant(withPhoneNumber: "1") { participant, _ in
            print(participant as Any)
        }
        self.container.fetchShareParticipant(withUserRecordID: id) { participant, _ in
            print(participant as Any)
        }
        self.container.fetchShareParticipants(forEmailAddresses: ["a"]) { result in print(result) }
        self.container.fetchShareParticipants(forPhoneNumbers: ["1"]) { result in print(result) }
        self.container.fetchShareParticipants(forUserRecordIDs: [id]) { result in print(result) }
        return people
    }

    func permissions(of share: CKShare) -> String {
        let participant = share.currentUserParticipant
        let canWrite = participant?.permission == .readWrite || share.publicPermission == .readWrite
        for other in share.participants where other != share.owner {
            switch other.acceptanceStatus {
            case .accepted: print(other.userIdentity.userRecordID?.recordName ?? "")
            case .pending, .removed, .unknown: share.removeParticipant(other)
            @unknown default: break
            }
            switch other.role {
            case .owner, .administrator, .privateUser, .publicUser, .unknown: break
            @unknown default: break
            }
        }
        return "\(canWrite) \(share.owner.userIdentity.lookupInfo?.phoneNumber ?? "") \(share.url as Any)"
    }

    func manage(_ share: CKShare) {
        let guest = CKShare.Participant.oneTimeURLParticipant()
        guest.role = .privateUser
        share.addParticipant(guest)
        print(share.oneTimeURL(for: guest.participantID) as Any)
        share.allowsAccessRequests = true
        share.denyRequesters(share.requesters)
        share.blockRequesters(share.requesters.filter { $0.userIdentity.hasiCloudAccount })
        share.unblockIdentities(share.blockedIdentities)
        let infos = share.requesters.map(\.participantLookupInfo)
        print(infos, share.participants.map { ($0.isApprovedRequester, $0.dateAddedToShare) })
        let options = CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: .any,
            allowedParticipantAccessOptions: .specifiedRecipientsOnly
        )
        options.allowsAccessRequests = CKAllowedSharingOptions.standard.allowsAccessRequests
        let observer = CKSystemSharingUIObserver(container: self.container)
        observer.systemSharingUIDidSaveShareBlock = { id, result in print(id, result) }
        observer.systemSharingUIDidStopSharingBlock = { id, result in print(id, result) }
    }

    func archive(_ share: CKShare) throws -> CKShare? {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        share.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        let kept = CKShare(coder: unarchiver)
        unarchiver.finishDecoding()
        let data = try NSKeyedArchiver.archivedData(withRootObject: kept, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: data)
    }

    func handle(_ error: any Error) -> String {
        switch error {
        case CKError.alreadyShared: return "shared"
        case CKError.tooManyParticipants: return "many"
        case CKError.participantMayNeedVerification: return "verify"
        case CKError.participantAlreadyInvited: return "invited"
        default: return error.localizedDescription
        }
    }
}

/// From before iOS 15, as some still have it.
@available(*, deprecated)
final class OldSharingIdioms {
    func accept(_ metadata: CKShareMetadata, in container: CKContainer) {
        let accept = CKAcceptSharesOperation(shareMetadatas: [metadata])
        accept.perShareCompletionBlock = { metadata, share, error in
            print(metadata.rootRecordID, metadata.participantType, share as Any, error as Any)
        }
        accept.acceptSharesCompletionBlock = { error in print(error as Any) }
        container.add(accept)
        let fetch = CKFetchShareMetadataOperation(shareURLs: [])
        fetch.perShareMetadataBlock = { url, metadata, error in print(url, metadata as Any, error as Any) }
        fetch.fetchShareMetadataCompletionBlock = { error in print(error as Any) }
        container.add(fetch)
        let people = CKFetchShareParticipantsOperation()
        people.userIdentityLookupInfos = []
        people.shareParticipantFetchedBlock = { participant in
            participant.type = .privateUser
            let permission: CKShare.Participant.Permission = participant.permission
            let status: CKShare_Participant_AcceptanceStatus = participant.acceptanceStatus
            print(permission.rawValue, status.rawValue, participant.userIdentity.contactIdentifiers)
        }
        people.fetchShareParticipantsCompletionBlock = { error in print(error as Any) }
        container.add(people)
    }
}
