import Foundation
import RecordModel
import Testing
import WireProtocol

@testable import CloudKit

private func url(_ token: String) -> URL {
    guard let url = URL(string: "tidemark://example.org/share/\(token)") else {
        preconditionFailure("no URL")
    }
    return url
}

private let system = shareRecord(serverShare()).system

@Suite(.timeLimit(.minutes(10))) struct ShareRequestTests {
    @Test func `a URL has the server's address, and its port if it is not the usual one`() throws {
        for (host, port, expected) in [
            ("example.org", 7_430, "tidemark://example.org/share/a"),
            ("example.org", 7_431, "tidemark://example.org:7431/share/a"),
            ("::1", 7_430, "tidemark://[::1]/share/a"),
        ] {
            let made = ShareURL.url(address: ShareURL.address(host: host, port: port), token: "a")
            #expect(made?.absoluteString == expected)
            #expect(try ShareURL.token(of: #require(made)) == "a")
        }
        for token in ["t", "A-b_c.~", "100%", "a b", "ä", String(repeating: "t", count: 64)] {
            let made = try #require(ShareURL.url(address: "tidemark://h", token: token))
            #expect(try ShareURL.token(of: made) == token)
        }
        #expect(ShareURL.url(address: "tidemark://h", token: "") == nil)
    }

    @Test(
        arguments: [
            "https://example.org/share/a", "tidemark://example.org/a", "tidemark://example.org/share/",
            "tidemark://example.org/share/a/b", "tidemark:/share/a", "tidemark://example.org/share/a?b",
            "tidemark://example.org/share/" + String(repeating: "t", count: 65), "file:///share/a",
        ]
    )
    func `another URL is invalidArguments, and the others are asked for`(text: String) throws {
        let other = try #require(URL(string: text))
        let request = ShareMetadataFetch([other, url("a"), url("a"), url("b")])
        guard case .value(other, .failure(let error))? = request.roles.refused.first else {
            Issue.record("it was not refused: \(request.roles.refused)")
            return
        }
        #expect(code(error) == 12 && request.roles.refused.count == 1 && request.itemCount == 2)
        #expect(
            try request.operation(user: "_me") == .fetchShareMetadata(FetchShareMetadata(tokens: ["a", "b"]))
        )
        let asking = ShareAccessRequest([other, url("a")])
        #expect(asking.roles.refused.count == 1)
        #expect(try asking.operation(user: "_me") == .requestShareAccess(RequestShareAccess(tokens: ["a"])))
    }

    @Test func `what a URL leads to has the share, and the root if it is wanted`() throws {
        let root = Record(
            id: RecordID(zone: sharedZone.model, recordName: "list"),
            recordType: "List",
            changeTag: "1",
            system: system,
            body: RecordBody([
                Field(name: "file", value: .asset(Asset(sha256: [UInt8](repeating: 1, count: 32), size: 1)))
            ])
        )
        let request = ShareMetadataFetch([url("a")], rootRecords: true, desiredKeys: ["title"])
        let asked = FetchShareMetadata(
            tokens: ["a"],
            wantsRootRecords: true,
            desiredKeys: ["title", "___share", "___sharing"]
        )
        #expect(try request.operation(user: "_me") == .fetchShareMetadata(asked))
        let model = ShareMetadata(
            container: "org.example",
            share: shareRecord(serverShare()),
            rootRecordName: "list",
            rootRecord: root,
            role: .publicUser,
            acceptance: .unknown,
            permission: .readOnly,
            owner: UserIdentity(userRecordName: "_owner")
        )
        let answer = request.result(of: Item(index: 0, outcome: .shareMetadata(model)), user: "_me")
        guard case .value(_, .success(let metadata))? = answer else {
            Issue.record("another answer: \(String(describing: answer))")
            return
        }
        #expect(metadata.hierarchicalRootRecordID == CKRecord.ID(recordName: "list", zoneID: sharedZone))
        #expect(metadata.rootRecord?.recordType == "List" && metadata.token == "a")
        let file = try #require(metadata.rootRecord?["file"] as? CKAsset)
        #expect(file.fileURL == nil && request.roles.records == nil)
        #expect(metadata.participantRole == .publicUser && metadata.participantStatus == .unknown)
        #expect(request.roles.share?(metadata) === metadata.share)
        let zone = ShareMetadata(
            container: "org.example",
            share: shareRecord(Share(root: nil)),
            rootRecordName: nil,
            role: .owner,
            acceptance: .accepted,
            permission: .readWrite,
            owner: UserIdentity()
        )
        let other = request.result(of: Item(index: 0, outcome: .shareMetadata(zone)), user: "_me")
        guard case .value(_, .success(let zoneWide))? = other else {
            Issue.record("another answer: \(String(describing: other))")
            return
        }
        #expect(zoneWide.hierarchicalRootRecordID == nil && zoneWide.rootRecord == nil)
        #expect(request.result(of: Item(index: 1, outcome: .shareMetadata(zone)), user: "_me") == nil)
        let plain = ShareMetadataFetch([url("a")], rootRecords: false, desiredKeys: ["title"])
        #expect(try plain.operation(user: "_me") == .fetchShareMetadata(FetchShareMetadata(tokens: ["a"])))
    }

    @Test func `people are looked for once, and the current user by name`() throws {
        let email = CKUserIdentity.LookupInfo(emailAddress: "ann@example.org")
        let me = CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID(recordName: CKCurrentUserDefaultName))
        let nobody = CKUserIdentity.LookupInfo(phoneNumber: "")
        let request = ParticipantFetch([email, me, email, nobody])
        let asked = FetchShareParticipants(lookups: [
            .emailAddress("ann@example.org"), .userRecordName("_me"),
        ])
        #expect(try request.operation(user: "_me") == .fetchShareParticipants(asked))
        #expect(request.roles.refused.map { code($0.failure?.error) } == [12])
        let found = request.result(of: Item(index: 0, outcome: .participant(person("A"))), user: "_me")
        guard case .value(email, .success(let participant))? = found else {
            Issue.record("another answer: \(String(describing: found))")
            return
        }
        #expect(participant.participantID == "A")
        let failure = Failure(code: .unknownItem, message: "nobody", retry: .never)
        let missing = request.result(of: Item(index: 1, outcome: .failure(failure)), user: "_me")
        #expect(code(missing?.failure?.error) == 11)
        let other = request.result(of: Item(index: 1, outcome: .done), user: "_me")
        #expect(code(other?.failure?.error) == 1)
    }

    @Test func `shares are joined with the tokens that led to them`() throws {
        let model = ShareMetadata(
            container: "org.example",
            share: shareRecord(serverShare()),
            rootRecordName: "list",
            role: .privateUser,
            acceptance: .pending,
            permission: .readOnly,
            owner: UserIdentity()
        )
        let metadata = CKShare.Metadata(model, share: fetchedShare(), rootRecord: nil, token: "once")
        let request = ShareJoining([metadata, metadata])
        #expect(try request.operation(user: "_me") == .acceptShares(AcceptShares(tokens: ["once"])))
        let record = RecordMessage(shareRecord(serverShare(), tag: "t9"))
        let answer = try request.result(of: Item(index: 0, outcome: .record(record)), user: "_me")
        guard case .value(metadata, .success(let share))? = answer else {
            Issue.record("another answer: \(String(describing: answer))")
            return
        }
        #expect(share.recordChangeTag == "t9" && share.participants.count == 1)
        let asking = ShareAccessRequest([url("a")])
        guard case .value(_, .success)? = asking.result(of: Item(index: 0, outcome: .done), user: "_me")
        else {
            Issue.record("access was not asked for")
            return
        }
    }

    @Test func `shares come as shares whatever fetches them, and are told where the server is`() throws {
        let item = Item(index: 0, outcome: .record(RecordMessage(shareRecord(serverShare()))))
        let id = CKRecord.ID(recordName: "share-1", zoneID: sharedZone)
        let fetch = RecordFetch([id], desiredKeys: ["cloudkit.title", "a"], scope: .shared)
        let asked = FetchRecords(
            scope: .shared,
            ids: [id.model],
            desiredKeys: ["cloudkit_title", "a", "___share", "___sharing"]
        )
        #expect(try fetch.operation(user: "_me") == .fetchRecords(asked))
        let query = RecordQuery(.query(Query(recordType: "a"), zone: nil), scope: .shared)
        let page = ZoneChangesPage(sharedZone, since: nil, scope: .shared)
        for answers in [
            try ResultTally.reading([item], of: fetch).results[0],
            try ResultTally.reading([item], of: query).results[0],
        ] {
            guard case .value(_, .success(let share as CKShare))? = answers.first else {
                Issue.record("no share: \(answers)")
                continue
            }
            #expect(share.url?.absoluteString == "tidemark://127.0.0.1:1/share/token-1")
        }
        let changes = try ResultTally.reading([item], of: page).results[0]
        guard case .value(_, .success(.saved(let share as CKShare)))? = changes.first else {
            Issue.record("no share: \(changes)")
            return
        }
        #expect(share.url?.absoluteString == "tidemark://127.0.0.1:1/share/token-1")
    }

    @Test func `the server's record of a conflict is a share too`() throws {
        let share = fetchedShare()
        let request = try RecordModification(
            saving: [share],
            deleting: [],
            policy: .ifServerRecordUnchanged,
            isAtomic: true,
            scope: .private
        )
        guard case .shares(.private)? = request.roles.records?.completion else {
            Issue.record("saved shares are not fetched again")
            return
        }
        let failure = Failure(
            code: .serverRecordChanged,
            message: "changed",
            retry: .afterChange,
            serverRecord: shareRecord(serverShare([person("A")]), tag: "t5")
        )
        let items = [Item(index: 0, outcome: .failure(failure))]
        let answers = try ResultTally.reading(items, of: request).results[0]
        let error = try #require(answers.first?.failure?.error as? CKError)
        let theirs = try #require(error.serverRecord as? CKShare)
        #expect(theirs.participants.count == 2 && theirs.url?.host == "127.0.0.1")
        #expect(error.clientRecord === share && error.ancestorRecord is CKShare)
    }

    @Test func `a zone of another user is named with its owner`() throws {
        let zone = CKRecordZone.ID(zoneName: "notes", ownerName: "_owner")
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: zone))
        note.setParent(CKRecord.ID(recordName: "list", zoneID: zone))
        let request = try RecordModification(
            saving: [note],
            deleting: [CKRecord.ID(recordName: "old", zoneID: zone)],
            policy: .changedKeys,
            isAtomic: true,
            scope: .shared
        )
        guard case .modifyRecords(let modify) = try request.operation(user: "_me") else {
            Issue.record("another operation")
            return
        }
        #expect(modify.scope == .shared && modify.saves[0].parent == .set(recordName: "list"))
        #expect(modify.saves[0].id.zone == ZoneID(zoneName: "notes", ownerName: "_owner"))
        #expect(modify.deletes[0].zone.ownerName == "_owner")
        #expect(request.roles.records?.completion == nil)
    }

    @Test func `operations report each URL, then the end, also without a server`() async {
        let events = Events()
        let operation = CKFetchShareMetadataOperation(shareURLs: [url("a?b"), url("c?d")])
        operation.perShareMetadataResultBlock = { url, result in
            guard case .failure(let error) = result else { return }
            events.note("\(url.query ?? "") \(code(error))")
        }
        operation.perShareMetadataBlock = { _, _, _ in events.note("not called") }
        operation.fetchShareMetadataCompletionBlock = { error in
            events.note(
                "completion \(code(error)) of \((error as? CKError)?.partialErrorsByItemID?.count ?? 0)"
            )
        }
        operation.fetchShareMetadataResultBlock = { result in
            if case .success = result { events.note("succeeded") }
        }
        operation.configuration.container = .unreachable()
        await operation.finish()
        #expect(events.all == ["b 12", "d 12", "succeeded", "completion 2 of 2"])
        let old = CKFetchShareMetadataOperation(shareURLs: [url("a?b")])
        old.perShareMetadataBlock = { url, metadata, error in
            events.note("\(url.query ?? "") \(metadata == nil) \(code(error))")
        }
        old.configuration.container = .unreachable()
        await old.finish()
        #expect(events.all.last == "b true 12")
    }

    @Test func `operations end with the error of a server that can't be reached`() async {
        let events = Events()
        let fetch = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [
            CKUserIdentity.LookupInfo(emailAddress: "ann@example.org")
        ])
        fetch.fetchShareParticipantsResultBlock = { result in
            if case .failure(let error) = result { events.note("participants \(code(error))") }
        }
        let access = CKShareRequestAccessOperation(shareURLs: [url("a")])
        access.shareAccessRequestResultBlock = { result in
            if case .failure(let error) = result { events.note("access \(code(error))") }
        }
        let accept = CKAcceptSharesOperation(shareMetadatas: [])
        accept.acceptSharesResultBlock = { result in
            if case .success = result { events.note("nothing to accept") }
        }
        for operation in [fetch, access, accept] as [CKOperation] {
            operation.configuration.container = .unreachable()
            operation.configuration.timeoutIntervalForRequest = 1
            await operation.finish()
        }
        #expect(events.all == ["participants 4", "access 4", "nothing to accept"])
    }
}
