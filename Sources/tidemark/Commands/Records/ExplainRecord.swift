import Administration
import ArgumentParser
import Foundation
import RecordModel
import RecordStore

/// The command `tidemark explain-record`.
struct ExplainRecord: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain-record",
        abstract: "Show who has a record, who may use it, and which subscriptions its last change fires.",
        discussion: """
            Lists each installation of each user: it has the record, is so many changes behind, never \
            fetched the zone, or may not read the record. An installation has what came before the token \
            that it presents. The server writes that down within a second, and once a minute for an \
            installation that fetches all the time. Works while the server runs.

              tidemark explain-record task-1 --container iCloud.org.example.app \\
                  --as alice --zone Notes
              tidemark explain-record news-7 --container iCloud.org.example.app \\
                  --environment production --json
            """
    )

    @OptionGroup var options: OneRecordOptions

    @Flag(
        help: """
            Print a JSON object with access, changeTag, createdBy, installations, modified, modifiedBy, \
            names, position, recordName, recordType, subscriptions and truncated.
            """
    )
    var json = false

    func run() async throws {
        let (explanation, names) = try await self.options.open { store, id, requester in
            await withCheckedContinuation { continuation in
                store.explain(id, for: requester) { continuation.resume(returning: $0) }
            }
        }
        if self.json {
            Terminal.write(try JSONText.of(Output(explanation, names)))
        } else {
            Terminal.write(Self.text(of: explanation, names))
        }
    }

    private static func text(of explanation: RecordExplanation, _ names: AccountNames) -> String {
        let output = Output(explanation, names)
        var parts = [
            """
            record    \(output.recordName), of type \(output.recordType)
            change    position \(output.position), change tag \(output.changeTag)
            created   \(output.created) by \(names.text(of: output.createdBy))
            modified  \(output.modified) by \(names.text(of: output.modifiedBy))

            """
        ]
        parts.append(
            Terminal.table(
                header: ["USER OR ROLE", "MAY", "WHY"],
                rows: output.access.map { [names.text(of: $0.who), $0.may.joined(separator: " "), $0.why] }
            )
        )
        if !output.subscriptions.isEmpty {
            parts.append(
                Terminal.table(
                    header: ["SUBSCRIPTION", "USER", "FIRES", "WHY"],
                    rows: output.subscriptions.map {
                        [$0.id, names.shortText(of: $0.user), $0.matches ? "yes" : "no", $0.why]
                    }
                )
            )
        }
        if !output.installations.isEmpty {
            parts.append(
                Terminal.table(
                    header: ["INSTALLATION", "USER", "STATE", "LAST SEEN", "WHY"],
                    rows: zip(explanation.deliveries, output.installations).map { delivery, row in
                        [
                            row.installation ?? "-", names.shortText(of: row.user), delivery.text,
                            row.seen ?? "never", row.why,
                        ]
                    }
                )
            )
        }
        if output.truncated {
            parts.append("More subscriptions or installations are known than are listed.\n")
        }
        return parts.joined(separator: "\n")
    }

    private struct Output: Encodable {
        struct Access: Encodable {
            let who: String
            let may: [String]
            let why: String
        }

        struct Subscription: Encodable {
            let id: String
            let user: String
            let matches: Bool
            let why: String
        }

        struct Installation: Encodable {
            /// 32 hexadecimal digits; `nil` if no installation of the user is known.
            let installation: String?
            let user: String
            let state: String
            /// `nil` if they were not counted.
            let changesBehind: UInt64?
            let position: Int64
            /// ISO 8601, in UTC; `nil` if it never came.
            let seen: String?
            let why: String
        }

        let recordName: String
        let recordType: String
        let position: Int64
        let changeTag: String
        let created: String
        let createdBy: String
        let modified: String
        let modifiedBy: String
        let access: [Access]
        let subscriptions: [Subscription]
        let installations: [Installation]
        let truncated: Bool
        /// Names of the users and services in this object, by user record name.
        let names: [String: String]

        init(_ explanation: RecordExplanation, _ names: AccountNames) {
            let system = explanation.record.system
            self.recordName = explanation.record.id.recordName
            self.recordType = explanation.record.recordType
            self.position = explanation.position
            self.changeTag = explanation.record.changeTag
            self.created = Self.date(system.createdMilliseconds)
            self.createdBy = system.createdBy
            self.modified = Self.date(system.modifiedMilliseconds)
            self.modifiedBy = system.modifiedBy
            self.access = explanation.access.map { Access(who: $0.who, may: $0.may.words, why: $0.why) }
            self.subscriptions = explanation.matches.map {
                Subscription(
                    id: $0.subscriptionID,
                    user: $0.userRecordName,
                    matches: $0.isMatch,
                    why: $0.why
                )
            }
            self.installations = explanation.deliveries.map { delivery in
                Installation(
                    installation: delivery.installation.isEmpty ? nil : Self.digits(delivery.installation),
                    user: delivery.userRecordName,
                    state: delivery.state.word,
                    changesBehind: delivery.changesBehind == 0 ? nil : delivery.changesBehind,
                    position: delivery.position,
                    seen: delivery.seenMilliseconds == 0 ? nil : Self.date(delivery.seenMilliseconds),
                    why: delivery.why
                )
            }
            self.truncated = explanation.isTruncated
            let users =
                [self.createdBy, self.modifiedBy] + self.access.map(\.who) + self.subscriptions.map(\.user)
                + self.installations.map(\.user)
            self.names = Dictionary(
                users.compactMap { user in names.name(of: user).map { (user, $0) } },
                uniquingKeysWith: { first, _ in first }
            )
        }

        private static func date(_ milliseconds: Int64) -> String {
            Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
        }

        private static func digits(_ bytes: [UInt8]) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
}

extension RecordExplanation.Delivery.State {
    /// The state for programs.
    fileprivate var word: String {
        switch self {
        case .hasIt: "hasIt"
        case .wasSent: "wasSent"
        case .isBehind: "isBehind"
        case .neverCame: "neverCame"
        case .mayNotRead: "mayNotRead"
        case .passedOver: "passedOver"
        case .unknown: "unknown"
        }
    }
}
