import ArgumentParser
import NIOCore
import NIOSSL

/// A peer of the row `follow-rate`: connections that `LISTEN`, and query for the rows after the last
/// one that they have when they are notified.
///
/// One connection saves, so positions of changes are in the order of their commits.
struct PostgreSQLFollow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "postgresql-follow")

    /// The statement of `single-save.sql`, which also notifies.
    private static let save = """
        WITH saved AS (
            INSERT INTO followed VALUES (1, $1, 'Item', nextval('followed_position'), 0, 0, $2)
            ON CONFLICT (zone, name) DO UPDATE SET
                change_position = excluded.change_position, modified_ms = excluded.modified_ms,
                body = excluded.body
            RETURNING change_position, zone, name
        ), logged AS (
            INSERT INTO followed_log SELECT change_position, zone, name FROM saved RETURNING change_position
        )
        SELECT pg_notify('followed', change_position::text) FROM logged
        """
    /// The statement of `change-page.sql`.
    private static let page = """
        SELECT name, change_position, record_type, created_ms, modified_ms, body
        FROM followed WHERE zone = 1 AND change_position > $1 ORDER BY change_position LIMIT 200
        """

    @OptionGroup var options: FollowedSaves.Options
    @Option(help: "The position of the last change.") var position: Int64

    func run() async throws {
        let context = try NIOSSLContext.ofPeers()
        let saves = FollowedSaves(self.options)
        let writer = try await PostgreSQLConnection.connect(
            self.options.port,
            context,
            .writer(statement: Self.save)
        ) { result in
            if case .failure(let fault) = result { saves.failed(fault) }
        }
        for _ in 0..<self.options.connections {
            _ = try await PostgreSQLConnection.connect(
                self.options.port,
                context,
                .follower(statement: Self.page, after: self.position)
            ) { result in
                switch result {
                case .success(let numbers): saves.arrived(numbers)
                case .failure(let fault): saves.failed(fault)
                }
            }
        }
        let report = try await saves.run { number in
            writer.writeAndFlush(PostgreSQLConnection.save(number), promise: nil)
        }
        try Peers.print(report)
    }
}
