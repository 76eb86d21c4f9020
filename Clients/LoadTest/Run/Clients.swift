import RecordClient
import RecordModel
import WireProtocol

/// The clients of a process: workers, distributed over the users, and a listener for each user.
struct Clients: Sendable {
    let plan: LoadPlan
    let workers: [Worker]
    /// By user; empty without listeners.
    let pushListeners: [PushListener]
    let devicesOfUsers: [UserDevices]
    /// One per worker, or none.
    let devices: [Device]
    /// Clients that follow all feeds of a user.
    let followers: [Follower]
    /// `nil` if rejected requests are not sent again.
    let retries: Retries?
    private let target: Target
    private let listenerClients: [RecordClient]

    var users: Int { min(self.target.tokens.count, self.workers.count) }

    /// Makes equal workers.
    init(_ plan: LoadPlan, _ target: Target) {
        let settings = plan.workerSettings()
        self.init(plan, target, Array(repeating: (settings, .shared), count: plan.connections))
    }

    /// Makes workers with these settings, on these threads.
    init(_ plan: LoadPlan, _ target: Target, _ workers: [(settings: WorkerSettings, threads: ClientThreads)])
    {
        self.plan = plan
        self.target = target
        let users = min(target.tokens.count, plan.connections)
        let pushListeners = (0..<users).map { _ in PushListener(subscription: plan.layout.pushSubscription) }
        let devicesOfUsers = (0..<users).map { _ in UserDevices() }
        let retries = plan.retries ? Retries() : nil
        self.retries = retries
        // The numbers differ in every process of every run.
        let base = SplitMix64.mix(plan.seed ^ UInt64(plan.process)) ^ UInt64.random(in: 0...UInt64.max)
        self.workers = workers.enumerated().map { number, worker in
            var settings = worker.settings
            settings.retries = retries
            return Worker(
                client: target.client(
                    user: number % users,
                    installation: base &+ UInt64(number),
                    threads: worker.threads
                ),
                number: plan.process * plan.connections + number,
                settings: settings,
                pushListener: pushListeners[number % users],
                userDevices: devicesOfUsers[number % users]
            )
        }
        self.pushListeners = pushListeners
        self.devicesOfUsers = devicesOfUsers
        self.devices = plan.mix.has(.sync) ? self.workers.map { Device($0) } : []
        self.listenerClients =
            plan.mix.has(.push)
            ? (0..<users).map { target.client(user: $0, installation: base &- UInt64($0) &- 1) } : []
        let all = self.workers
        self.followers = (0..<plan.followers).map { number in
            let user = number % users
            let installation = base &- UInt64(users + number) &- 1
            return Follower(
                number,
                client: target.client(user: user, installation: installation),
                workers: stride(from: user, to: all.count, by: users).map { all[$0] }
            )
        }
    }

    /// A worker of a user.
    func worker(of user: Int) -> Worker { self.workers[user] }

    func workers(of user: Int) -> [Worker] {
        stride(from: user, to: self.workers.count, by: self.users).map { self.workers[$0] }
    }

    /// Connects all of them.
    ///
    /// - Returns: The server's name.
    func connect() async throws(LoadFailure) -> String {
        var server = ""
        for client in self.all {
            do throws(ClientError) {
                server = try await client.welcome(timeout: .seconds(10)).server
            } catch {
                throw LoadFailure(error, to: "connect")
            }
        }
        return server
    }

    /// Starts all listeners.
    ///
    /// Returns when the server has confirmed each.
    ///
    /// - Parameter tokens: The devices' zone's tokens, by user.
    func listen(from tokens: [[UInt8]]) async {
        for (user, listener) in self.listenerClients.enumerated() {
            await self.pushListeners[user].listen(listener)
        }
        for (number, device) in self.devices.enumerated() {
            await device.listen(from: tokens[number % self.users])
        }
    }

    /// Follows the feeds until `stop` of the followers.
    ///
    /// - Parameter tokens: By user and zone.
    /// - Returns: The number of times that a follower came to the end of a feed.
    func follow(from tokens: [[[UInt8]]]) async -> Int {
        await withTaskGroup { group in
            for (number, follower) in self.followers.enumerated() {
                group.addTask { await follower.follow(from: tokens[number % self.users]) }
            }
            return await group.reduce(0, +)
        }
    }

    /// Gives up on notifications that are long overdue, and ends the pauses of devices; once a second.
    func expire() {
        for device in self.devices { device.goOn() }
        let limit = ContinuousClock.now - .seconds(self.plan.timeoutSeconds)
        for pushListener in self.pushListeners { pushListener.expire(before: limit) }
        for userDevices in self.devicesOfUsers { userDevices.expire(before: limit) }
    }

    /// Returns when no request is in flight.
    func stop() async {
        await withTaskGroup { group in
            for worker in self.workers { group.addTask { await worker.stop() } }
        }
    }

    /// Stops the devices.
    ///
    /// They need not fetch later changes.
    func stopDevices() {
        for device in self.devices { device.stop() }
    }

    func disconnect() async {
        self.stopDevices()
        for client in self.all { await client.shutdown() }
    }

    private var all: [RecordClient] {
        self.workers.map(\.client) + self.listenerClients + self.followers.map(\.client)
    }
}
