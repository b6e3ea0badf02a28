"""A bank: accounts of several classes, transactions that fail and roll back, interest, an audit log, and reports."""


class BankError(Exception):
    pass


class Insufficient(BankError):
    def __init__(self, account, amount):
        super().__init__(f"{account.owner} lacks {amount - account.available()}")
        self.account = account


class Frozen(BankError):
    pass


class Account:
    rate = 0
    fee = 0

    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.history = []
        self.frozen = False

    def available(self):
        return self.balance

    def change(self, amount, why):
        if self.frozen:
            raise Frozen(f"{self.owner} is frozen")
        if amount < 0 and -amount + self.fee > self.available():
            raise Insufficient(self, -amount + self.fee)
        self.balance += amount - (self.fee if amount < 0 else 0)
        self.history.append((why, amount))
        return self.balance

    def month(self):
        if self.rate:
            self.balance += self.balance * self.rate // 1200


class Savings(Account):
    rate = 36

    def change(self, amount, why):
        if amount < 0 and sum(1 for w, a in self.history[-20:] if a < 0) > 6:
            raise BankError("too many withdrawals")
        return super().change(amount, why)


class Credit(Account):
    fee = 1

    def __init__(self, owner, limit):
        super().__init__(owner)
        self.limit = limit

    def available(self):
        return self.balance + self.limit


class Bank:
    def __init__(self):
        self.accounts = {}
        self.failed = {}
        self.log = []

    def open(self, account):
        if account.owner in self.accounts:
            raise BankError(f"{account.owner} has one")
        self.accounts[account.owner] = account
        return self

    def transfer(self, a, b, amount):
        try:
            source, target = self.accounts[a], self.accounts[b]
        except KeyError as error:
            raise BankError(f"nobody called {error.args[0]}") from error
        before = source.balance
        try:
            source.change(-amount, f"to {b}")
            target.change(amount, f"from {a}")
        except BankError:
            if source.balance != before:
                source.balance = before
                source.history.pop()
                self.log.append(f"undone {a}->{b}")
            raise
        finally:
            self.log.append((a, b, amount))

    def run(self, n, seed):
        names = sorted(self.accounts) + ["nobody"]
        done = 0
        for i in range(n):
            seed = (seed * 69069 + 5) % 2**32
            a, b = names[seed % len(names)], names[seed // 7 % len(names)]
            amount = (seed >> 20) % 90
            try:
                self.transfer(a, b, amount if i < n - 50 else amount / 4)
                done += 1
            except Insufficient as error:
                self.failed["insufficient"] = self.failed.get("insufficient", 0) + 1
                error.account.frozen = i % 11 == 0
            except Frozen as error:
                self.failed["frozen"] = self.failed.get("frozen", 0) + 1
                if i % 3 == 0:
                    self.accounts[str(error).split()[0]].frozen = False
            except BankError as error:
                self.failed[str(error)] = self.failed.get(str(error), 0) + 1
            if i % 100 == 0:
                for account in self.accounts.values():
                    account.month()
        return done


bank = Bank()
bank.open(Account("ann", 1000)).open(Savings("bob", 2000)).open(Credit("cid", 500)).open(Account("dee", 10)).open(Savings("eve", 300))
print(bank.run(3000, 7), sorted(bank.failed.items()))
for name, a in sorted(bank.accounts.items()):
    print(name, type(a).__name__, a.balance, len(a.history), a.frozen, a.history[-1])
print(len(bank.log), bank.log[-1])
for f in (lambda: bank.open(Account("ann")), lambda: bank.transfer("zed", "ann", 1), lambda: bank.transfer("ann", "bob", "x")):
    try:
        f()
    except (BankError, TypeError) as error:
        print(type(error).__name__, error, repr(error.__cause__), repr(error.__context__))
