import CloudKit

/// A shopping list that several services share, each a process with an account of its own.
///
///     shared-list host ITEM…        makes the list, prints its URL, then what others add
///     shared-list join URL ITEM…    joins the list, and prints what others add
///     shared-list add ITEM…         adds items to the list of the same account, and ends
///
/// It uses CloudKit alone, except for `notifications()`: on Apple's systems the app delegate gets
/// notifications.
@main
struct SharedList {
    static let containerIdentifier = "iCloud.org.example.lists"

    static func main() async {
        do {
            let container = CKContainer(identifier: Self.containerIdentifier)
            guard try await container.accountStatus() == .available else {
                throw Failure("Not signed in. Set TIDEMARK_TOKEN to a user's access token.")
            }
            var arguments = CommandLine.arguments.dropFirst()
            switch arguments.popFirst() {
            case "host":
                let list = try await Self.host(in: container)
                try await list.add(Array(arguments))
                try await Self.follow(list, container)
            case "join":
                guard let url = arguments.popFirst().flatMap({ URL(string: $0) }) else {
                    throw Failure.usage
                }
                let list = try await Self.join(url, in: container)
                try await list.add(Array(arguments))
                try await Self.follow(list, container)
            case "add":
                let list = ListFollower(database: container.privateCloudDatabase, list: Self.listID)
                try await list.add(Array(arguments))
            default: throw Failure.usage
            }
        } catch {
            FileHandle.standardError.write(Data("shared-list: \(error)\n".utf8))
            exit(1)
        }
    }

    private static var listID: CKRecord.ID {
        CKRecord.ID(recordName: "shopping", zoneID: CKRecordZone.ID(zoneName: "Lists"))
    }

    /// Makes the zone, the list and its share; anybody with the URL may write.
    private static func host(in container: CKContainer) async throws -> ListFollower {
        let database = container.privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: Self.listID.zoneID))
        let list = CKRecord(recordType: "List", recordID: Self.listID)
        list["title"] = "Shopping"
        let share = CKShare(rootRecord: list)
        share[CKShare.SystemFieldKey.title] = "Shopping"
        share.publicPermission = .readWrite
        let (saved, _) = try await database.modifyRecords(saving: [list, share], deleting: [])
        guard let savedShare = try saved[share.recordID]?.get() as? CKShare, let url = savedShare.url else {
            throw Failure("The share has no URL.")
        }
        say("Share: \(url.absoluteString)")
        return ListFollower(database: database, list: list.recordID)
    }

    private static func join(_ url: URL, in container: CKContainer) async throws -> ListFollower {
        let metadata = try await container.shareMetadata(for: url)
        _ = try await container.accept(metadata)
        guard let list = metadata.hierarchicalRootRecordID else { throw Failure("The share is of no list.") }
        say("Joined: \(metadata.share[CKShare.SystemFieldKey.title] as? String ?? "a list")")
        return ListFollower(database: container.sharedCloudDatabase, list: list)
    }

    /// Prints what others add, whenever the server notifies it, for ever.
    private static func follow(_ list: ListFollower, _ container: CKContainer) async throws {
        let subscription = CKDatabaseSubscription(subscriptionID: "lists")
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        _ = try await list.database.save(subscription)
        let notifications = container.notifications()
        try await list.printChanges()
        for await _ in notifications { try await list.printChanges() }
    }
}

struct Failure: Error, CustomStringConvertible {
    static let usage = Failure(
        "usage: shared-list host ITEM… | shared-list join URL ITEM… | shared-list add ITEM…"
    )

    let description: String

    init(_ description: String) { self.description = description }
}
